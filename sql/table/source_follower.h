// Keeps the filter of a bloom table in sync with its source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/table/options.h"
#include "sql/table/paged_filter.h"
#include "sql/table/schema_check.h"
#include "sql/table/source.h"
#include "sql/table/source_comparison.h"
#include "sql/table/source_triggers.h"
#include "sql/values/key.h"

namespace bloom {

class SourceFollower {
 public:
  // `table`: the name of the bloom table. `names`: the source and its columns.
  SourceFollower(sqlite3* db, const std::string& schema, const std::string& table,
                 const SourceNames& names, Kind kind)
      : source_(db, schema, names), triggers_(source_, kind == Kind::counting) {
    triggers_.find_names(table);
    comparison_.emplace(source_);
  }
  SourceFollower(const SourceFollower&) = delete;
  SourceFollower& operator=(const SourceFollower&) = delete;

  const std::string& source() const { return source_.names().table; }
  const std::vector<std::string>& columns() const { return source_.names().columns; }
  Collation collation() const { return source_.collation(); }
  SourceComparison& comparison() { return *comparison_; }

  // CREATE and DROP of the bloom table. create() makes the filter from the options, fills it, and
  // installs the triggers and the guard index. drop() removes all of them. create() throws
  // bloom::Error if the source cannot be followed.
  void create(PagedFilter& filter, const Options& options);
  void drop(PagedFilter& filter);
  void rename(PagedFilter& filter, const char* name);

  // Rebuilds the filter from the keys of the source, and sizes it for them. Installs triggers,
  // guard index and change log again if they are missing, changed, or of another version.
  void rebuild(PagedFilter& filter, const Options& options);

  // The commands that triggers write. is_change() returns whether `command` is one of them.
  // change() applies such a command with the key `value`. Throws bloom::Error if the key to remove
  // is not in the filter.
  static bool is_change(std::string_view command);
  void change(PagedFilter& filter, std::string_view command, const sqlite::Value& value);

  // Call when a statement is prepared, and before a command: see SchemaCheck.
  void schema_may_have_changed() { schema_check_.expire(); }
  // Returns why the filter may have missed a change of the source, and what to do; nullopt if it
  // has missed none.
  std::optional<std::string> out_of_sync(PagedFilter& filter);
  // Reads the whole source. Throws SqliteError(SQLITE_CORRUPT_VTAB) if a key of the source is
  // missing from the filter, or if triggers, guard index or change log are not as they were made.
  void check(PagedFilter& filter);

 private:
  // Return what is wrong and what to do about it; nullopt if nothing is wrong.
  std::optional<std::string> changed_objects(PagedFilter& filter);
  std::optional<std::string> blocking_trigger_problem(PagedFilter& filter) const;
  Writers writers_after_rebuild(const Config& config, const Options& options) const;
  void look_for_blocking_triggers(PagedFilter& filter);
  void require_no_other_writer() const;
  bool has_guard(const Config& config) const;
  void fill(PagedFilter& filter, const Config& config, const PagedFilter::Add& add) const;
  static void add_key(PagedFilter& filter, const Key& key);
  std::uint64_t count_keys(Collation collation) const;

  Source source_;
  SourceTriggers triggers_;
  std::optional<SourceComparison> comparison_;  // made when the names are known
  SchemaCheck schema_check_;
  struct Versions {
    std::int64_t schema;
    std::int64_t temp;  // of the TEMP schema
    bool operator==(const Versions&) const = default;
  };
  // The versions at the last search for blocking triggers that found none: see
  // SourceTriggers::blocking_trigger().
  std::optional<Versions> unblocked_versions_;
};

}  // namespace bloom
