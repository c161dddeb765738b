// Keeps the filter of a bloom table in step with the source that it follows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/table/options.h"
#include "sql/table/paged_filter.h"
#include "sql/table/source.h"

namespace bloom {

class SourceFollower {
 public:
  // `table`: the bloom table.
  SourceFollower(sqlite3* db, const std::string& schema, const std::string& table,
                 const SourceNames& names, Kind kind)
      : source_(db, schema, names, kind == Kind::counting) {
    source_.refresh_from_triggers(table, Source::kTriggers);
  }

  const std::string& source() const { return source_.names().table; }
  const std::vector<std::string>& columns() const { return source_.names().columns; }
  Collation collation() const { return source_.collation(); }

  // CREATE and DROP of the bloom table: makes the filter as the options say, fills it, and binds it
  // to the source; or takes what binds it away. Throws if the source cannot be followed.
  void create(PagedFilter& filter, const Options& options);
  void drop(PagedFilter& filter);
  void rename(PagedFilter& filter, const char* name);

  // Makes the filter anew of the keys that the source has, in the size that they need, and binds it
  // again if it has come loose.
  void rebuild(PagedFilter& filter, const Options& options);

  // What a trigger puts into the command column.
  static bool is_change(std::string_view command);
  void change(PagedFilter& filter, std::string_view command, const sqlite::Value& value);

  // To call when a statement is prepared: SQLite prepares all anew when the schema has changed.
  void expect_another_schema() { checked_ = false; }
  // Throws if the filter may not have been told of all that happened to the source.
  void require_in_sync(PagedFilter& filter);
  // Reads all of the source. Throws SqliteError(SQLITE_CORRUPT_VTAB) for a key that is absent.
  void check(PagedFilter& filter);

 private:
  bool is_checked();
  void look_for_blocking_triggers(PagedFilter& filter);
  void require_no_other_writer() const;
  bool has_guard(const Config& config) const;
  void fill(PagedFilter& filter, const PagedFilter::Add& add) const;
  std::uint64_t count_keys(Collation collation) const;

  Source source_;
  bool checked_ = false;  // since a statement was prepared
  std::optional<std::int64_t> checked_version_;
  // The versions of the schema and of the TEMP schema without a trigger that may keep those of the
  // filter from running.
  struct Versions {
    std::int64_t schema;
    std::int64_t temp;
    bool operator==(const Versions&) const = default;
  };
  std::optional<Versions> clear_;
};

}  // namespace bloom
