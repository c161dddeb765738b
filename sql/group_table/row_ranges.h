// The rows of a source as the members of a bloom_groups table: CREATE VIRTUAL TABLE t USING
// bloom_groups(source=s, column=c, rows=4096). Each member is a range of rowids.
//
// The ranges are adjacent. The first one begins at the smallest rowid that SQLite allows. The name
// of a member is the first rowid of its range. Every range but the last ends just before the next
// one, and the last one ends at GroupConfig::summarized.
//
// A lookup must also search the rows that no filter covers: those after the last range, and the
// ranges that have changed. Appending a row changes no range. Triggers in plain SQL note the other
// changes in the table <name>_changed(first): the first rowid of the range, or NULL for all ranges.
// So every program may write to the source, also without the extension. The command 'summarize'
// makes ranges of the new rows and reads the changed ranges again.
//
// The source must have an INTEGER PRIMARY KEY, because VACUUM and a dump may renumber other rowids.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/hashing/hash.h"
#include "core/support/memory.h"
#include "sql/group_table/range_reader.h"
#include "sql/group_table/store/group_store.h"
#include "sql/source/source_comparison.h"
#include "sql/source/source_link.h"
#include "sql/sqlite/value.h"

namespace bloom {

class RowRanges {
 public:
  // `table`: the name of the bloom_groups table. `names`: the source and its column. `rows`: the
  // number of rows per range.
  RowRanges(sqlite3* db, const std::string& schema, const std::string& table,
            const SourceNames& names, std::uint64_t rows);
  RowRanges(const RowRanges&) = delete;
  RowRanges& operator=(const RowRanges&) = delete;

  const std::string& source() const { return source_.names().table; }
  Collation collation() const { return source_.collation(); }
  // Returns the type to declare for the column `key`, see type_of_key(). Never changes.
  const char* type_of_key() const { return bloom::type_of_key(affinity_); }

  // CREATE, DROP and ALTER TABLE ... RENAME of the bloom_groups table. They make, drop and rename
  // what belongs to the source: triggers, guard index and the table of changed ranges. create()
  // sets config.guard_index. It throws bloom::Error if the source is not supported. rename() also
  // renames the tables of the store.
  void create(const std::string& table, Collation collation, GroupConfig& config);
  void drop(const std::string& table, const std::string& guard_index);
  void rename(GroupStore& store, const std::string& new_name);
  // For the command 'rebuild'. Does what create() does, but keeps what is as it was made. Forgets
  // all noted changes.
  void restore(const std::string& table, Collation collation, GroupConfig& config);

  // Call when a statement is prepared, and before a command: see SchemaCheck.
  void schema_may_have_changed() { link_.schema_may_have_changed(); }
  // Returns why a change of the source may not have been noted, and what to do; nullopt if all
  // changes were noted.
  std::optional<std::string> out_of_sync(const std::string& table, const GroupConfig& config);

  void require_not_being_written(bool is_only_writer) const {
    source_.require_not_being_written(is_only_writer);
  }
  // Returns a reader of ranges whose filters have this shape.
  RangeReader reader(const Shape& shape) const;
  // Calls f(key) for each row of the range whose key is not NULL.
  using EachKey = std::function<void(const sqlite::Value& key)>;
  void for_each_key(RowRange range, const EachKey& f) const;

  // Returns the hashes that a lookup of `key` must look up in each filter: those of all keys that
  // SQLite may compare as equal to `key` (see SourceComparison). The hash noncanonical_marker()
  // stands for any text such as '05': the filter of a range with such text must contain this
  // hash.
  std::vector<Hash> hashes_of_equal_keys(const Key& key, const Shape& shape);
  // Converts a value as a column of the declared type would: a text to a number, or a number to
  // text. If the value changes, sets `converted` to the result. The column `key` must return the
  // result, because SQLite may compare it with the column of the source. Returns the hash of the
  // result, or that of `value` if it does not change. Requires: `key` is the key of `value`.
  Hash convert_key(const Key& key, const sqlite::Value& value, const Shape& shape,
                   sqlite::ValueCopy& converted);

  // Returns the first rowids of the changed ranges; nullopt if all ranges may have changed.
  // Requires: out_of_sync() has found no problem.
  std::optional<CountedVector<std::int64_t>> changed_ranges(const std::string& table);
  void forget_changes(const std::string& table) const;

 private:
  std::string changed_table(const std::string& table) const {
    return source_.qualified(link_.side_table(table));
  }
  void require_supported(Collation collation) const;

  SourceLink link_;
  Source& source_;  // of link_
  std::uint64_t rows_;
  Affinity affinity_;  // of the source's column when the table was opened
  TextToNumber to_number_;
  NumberToText to_text_;
  std::optional<sqlite::Statement> select_changed_;
};

}  // namespace bloom
