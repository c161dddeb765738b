// The table that a bloom_search table searches: its columns, the triggers on it, and the changes
// that they have noted.
//
// The triggers are plain SQL, so any SQLite program may write to the source. They note changed rows
// in the table <name>_changed(block): a block is a rowid divided by 2^kBlockBits. Their WHEN has
// the last covered rowid as a constant. Rows behind it are in no filter, and need no note.
//
// An INSERT has two triggers. BEFORE does not know a rowid that SQLite will choose: new.rowid is -1
// then. SQLite chooses the largest rowid in use plus 1, which is a covered one if the last covered
// row is gone. So BEFORE notes the block of that rowid. If the largest possible rowid is in use,
// SQLite chooses one at random, and BEFORE notes kAllBlocks, which stands for all rows. With
// AUTOINCREMENT, SQLite chooses by sqlite_sequence, and BEFORE notes the blocks of all rowids that
// it could then choose. AFTER notes what BEFORE could not foresee, but other AFTER triggers may
// keep it from running.
//
// The guard is a partial index on the searched columns and expressions that contains no rows. It
// blocks writes that fire no triggers (sqlite3_blob_write), and refuses expressions that are not
// deterministic. When the source or a column is renamed, SQLite renames them in the guard, so the
// guard says the current names. SourceLink makes and checks guard and triggers.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/hashing/collation.h"
#include "core/support/memory.h"
#include "sql/search_table/search_options.h"
#include "sql/source/source_link.h"
#include "sql/sqlite/sql_text.h"
#include "sql/sqlite/statement.h"
#include "sql/values/affinity.h"

namespace bloom {

inline constexpr std::int64_t kLowestRowid = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kHighestRowid = std::numeric_limits<std::int64_t>::max();

// Rowids first..last.
struct RowidRange {
  std::int64_t first;
  std::int64_t last;
};
using RowidRanges = CountedVector<RowidRange>;

struct SourceColumn {
  std::string name;
  std::string type;       // as declared
  std::string collation;  // its name
  Affinity affinity;
  bool is_generated;

  // Returns whether both columns convert and compare values in the same way.
  bool compares_as(const SourceColumn& other) const {
    return collation == other.collation && affinity == other.affinity &&
           is_generated == other.is_generated;
  }
};

class SearchSource {
 public:
  // `guard`: the name of the guard index; empty if there is none yet.
  SearchSource(sqlite3* db, const std::string& schema, std::string table,
               const SearchOptions& options, std::string guard);
  SearchSource(const SearchSource&) = delete;
  SearchSource& operator=(const SearchSource&) = delete;

  sqlite3* db() const { return db_; }
  // The current name, and that with the schema.
  const std::string& name() const { return source_.names().table; }
  std::string qualified() const { return source_.qualified(name()); }
  const std::vector<SourceColumn>& columns() const { return columns_; }
  // Returns the index of a column; -1 for none.
  int find(const std::string& column) const;
  const std::string& rowid_alias() const { return rowid_alias_; }
  bool is_utf8() const { return sqlite::encoding_of(db_) == sqlite::Encoding::utf8; }
  // Returns the SQL of what item `i` of the options searches: a column or an expression.
  const std::string& sql_of_item(std::size_t i) const { return item_sql_[i]; }
  std::size_t item_count() const { return item_sql_.size(); }
  // Returns the index of the column that is item `i`, whatever its name is now; -1 if the item is
  // an expression, or the column is gone.
  int source_column_of_item(std::size_t i) const {
    return options_.items()[i].expression.empty() ? find(column_name(i)) : -1;
  }
  // Returns whether an index of the source begins with this column, under this collation.
  bool has_index_on(const std::string& column, const std::string& collation) const;
  // Returns whether item `i` is a column that an index of the source, or its rowid, can look up.
  bool has_index_on_item(std::size_t i) const;

  // Call when a statement is prepared, and before a command. The source, its columns and its
  // indexes may have changed since, and other connections may have written to it.
  void refresh_names();
  // Call when SQLite may have prepared a statement of ours again while a query runs. Throws
  // bloom::Error if ALTER TABLE has changed the source since refresh_names(): the query would go on
  // with the old names, which other tables and columns may have.
  void require_same_names();
  // Returns how many times refresh_names() has read names and indexes again.
  int names_version() const { return names_version_; }

  // Throws SqliteError(SQLITE_AUTH) if an authorizer hides columns that lookups read.
  void require_readable() const;
  // Throws bloom::Error if the source was made again with other columns, or if another table has
  // its old name. SQLite compares the columns of a virtual table as they were declared when it was
  // opened.
  void require_same_columns();
  // For 'rebuild'. Throws bloom::Error if the source lacks a column of the options, is no ordinary
  // table, or if something else has its old name; SqliteError(SQLITE_AUTH) as require_readable().
  void require_items() const;
  // Throws bloom::Error if the source cannot be searched.
  void require_supported() const;
  // Throws bloom::Error while a statement of this connection may be writing to the source.
  void require_not_being_written(bool is_only_writer) const {
    source_.require_not_being_written(is_only_writer);
  }
  void require_no_other_writer() const { source_.require_no_other_writer(); }

  // CREATE, DROP and the renaming of the bloom_search table, see SourceLink. make_objects() is for
  // 'rebuild' as well: it restores what is missing.
  void make_objects();
  void drop() { link_.drop(table_, guard_); }
  void rename(const std::string& new_table, std::optional<std::int64_t> covered,
              const std::function<void()>& rename_tables);
  const std::string& guard() const { return guard_; }
  // Makes the triggers note changes up to this rowid.
  void set_covered(std::optional<std::int64_t> covered);

  // Returns why a change of the source may not have been noted; nullopt if all were noted.
  std::optional<std::string> out_of_sync(std::optional<std::int64_t> covered);
  // Returns whether the schema is still that of the last out_of_sync() that found nothing.
  bool still_passes() { return link_.still_passes(); }

  // Returns the changed blocks as ranges, in ascending order. Requires: in sync.
  RowidRanges changed_rows();
  void forget_changes() const;

 private:
  void read_names();
  void require_rowid_alias() const;
  std::vector<SourceColumn> read_columns() const;
  // Returns how the columns differ from those of the source now; "" if they do not.
  std::string other_columns() const;
  std::string table_info_sql() const {
    return "PRAGMA " + source_.qualified("table_xinfo") + "(" + sqlite::quoted_name(name()) + ")";
  }
  std::string changed_table() const { return source_.qualified(link_.side_table(table_)); }
  // Requires: item `i` is a column. Returns its name now.
  std::string column_name(std::size_t i) const;
  std::vector<Trigger> triggers(const std::string& table) const;
  bool has_autoincrement() const;

  enum { kInfoName = 1, kInfoType = 2, kInfoHidden = 6 };  // of PRAGMA table_xinfo
  static constexpr int kBlockBits = 6;
  // All rows. The blocks of rowids are in -kAllBlocks..kAllBlocks-1.
  static constexpr std::int64_t kAllBlocks = std::int64_t{1} << (63 - kBlockBits);

  sqlite3* db_;
  std::string table_;  // the bloom_search table
  std::string guard_;
  const SearchOptions& options_;
  std::optional<std::int64_t> covered_;
  SourceLink link_;
  Source& source_;  // of link_
  std::vector<std::string> item_sql_;
  std::vector<SourceColumn> columns_;  // as they were when this object was made
  std::string rowid_alias_;
  bool has_same_columns_ = false;  // as found since refresh_names()
  std::vector<IndexedColumn> indexed_;
  std::optional<SchemaReader::State> schema_of_names_;
  int names_version_ = 0;
  std::optional<sqlite::Statement> select_changed_;
};

}  // namespace bloom
