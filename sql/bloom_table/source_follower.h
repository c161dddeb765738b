// Keeps the filter of a bloom table in sync with its source.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/bloom_table/bloom_options.h"
#include "sql/bloom_table/paged/paged_filter.h"
#include "sql/bloom_table/source_probe.h"
#include "sql/source/source_comparison.h"
#include "sql/source/source_key.h"
#include "sql/source/source_link.h"
#include "sql/values/key.h"

namespace bloom {

class SourceFollower {
 public:
  // `table`: the name of the bloom table. `names`: the source and its columns.
  SourceFollower(sqlite3* db, const std::string& schema, const std::string& table,
                 const SourceNames& names, Kind kind);
  SourceFollower(const SourceFollower&) = delete;
  SourceFollower& operator=(const SourceFollower&) = delete;

  const std::string& source() const { return source_.names().table; }
  const std::vector<std::string>& columns() const { return source_.names().columns; }
  bool is_composite() const { return source_.is_composite(); }
  // Returns the collation of the key: binary for several columns, which have their own.
  Collation collation() const { return is_composite() ? Collation::binary : source_.collation(); }
  PartCollations part_collations() const {
    return is_composite() ? source_.collations() : PartCollations();
  }
  SourceComparison& comparison(std::size_t column = 0) { return comparisons_[column]; }

  // CREATE and DROP of the bloom table. create() makes the filter from the options, fills it, and
  // installs the triggers and the guard index. drop() removes all of them. create() throws
  // bloom::Error if the source cannot be followed.
  void create(PagedFilter& filter, const BloomOptions& options);
  void drop(PagedFilter& filter);
  void rename(PagedFilter& filter, const char* name);

  // Rebuilds the filter from the keys of the source, and sizes it for them. Installs triggers and
  // guard index again if they are missing, changed, or of another version. Empties or makes the
  // change log; fails if it has changed. Takes over the collation of the column now, unless the
  // options name one.
  void rebuild(PagedFilter& filter, BloomOptions options);

  // The commands that triggers write, with the key `value`. The second function throws bloom::Error
  // if the key to remove is not in the filter.
  static bool is_trigger_command(std::string_view command);
  void run_trigger_command(PagedFilter& filter, std::string_view command,
                           const sqlite::Value& value);

  // Moves the pending changes into the filter, if it has a change log. Throws bloom::Error if the
  // change log may lack changes: the filter would then seem to be up to date.
  void merge(PagedFilter& filter);

  // Call when a statement is prepared, and before a command: see SchemaCheck.
  void schema_may_have_changed() { link_.schema_may_have_changed(); }
  // Returns true if out_of_sync() certainly finds nothing. Takes a few ns.
  bool is_known_in_sync(PagedFilter& filter) {
    return link_.is_known_in_sync() && filter.config().blocking_trigger.empty();
  }
  // Returns why the filter may have missed a change of the source, and what to do; nullopt if it
  // has missed none.
  std::optional<std::string> out_of_sync(PagedFilter& filter);
  // Throws bloom::Error if nothing can be looked up, not even with on_stale=maybe: see SourceLink.
  void require_same_columns(PagedFilter& filter) const {
    link_.require_same_columns(filter.table());
  }
  // Returns whether a key may be in the filter or in the source. If the change log is long, looks
  // the key up in the source rather than reading the log. Requires: the key is one column,
  // out_of_sync() has found nothing, the database is in UTF-8, and `hash` is that of `value`.
  bool may_contain(PagedFilter& filter, Hash hash, const sqlite::Value& value);
  // Reads the whole source, and estimates how many keys have left it. They are not counted as they
  // leave, because that would make every DELETE slower. `keys`: the estimate of the filter.
  std::optional<std::uint64_t> count_removed(PagedFilter& filter,
                                             std::optional<std::uint64_t> keys) const;
  // Reads the whole source. Throws SqliteError(SQLITE_CORRUPT_VTAB) if a key of the source is
  // missing from the filter, or if triggers, guard index or change log are not as they were made.
  void check(PagedFilter& filter);

 private:
  // Return what is wrong and what to do about it; nullopt if nothing is wrong.
  std::optional<std::string> changed_source_of_release1(PagedFilter& filter) const;
  std::optional<std::string> blocking_trigger_problem(PagedFilter& filter) const;
  Writers writers_after_rebuild(const BloomConfig& config, const BloomOptions& options) const;
  BloomConfig new_config(const BloomOptions& options, const LinkedObjects& made) const;
  void look_for_blocking_triggers(PagedFilter& filter);
  void require_after_triggers();
  void add_all_keys(PagedFilter& filter, const PagedFilter::Add& add) const;
  std::uint64_t count_keys(Collation collation) const;

  const bool counting_;
  SourceLink link_;
  Source& source_;                            // of link_
  SourceTriggers& triggers_;                  // of link_
  std::deque<SourceComparison> comparisons_;  // one per column, made when the names are known
  SourceProbe probe_;
  // The schema at the last search for blocking triggers that found none: see
  // SourceTriggers::blocking_trigger().
  std::optional<SchemaReader::State> unblocked_schema_;
  bool adds_after_ = false;      // AFTER triggers add keys
  bool updates_others_ = false;  // an update of the source changes other tables by foreign keys
  bool has_checked_triggers_ = false;  // in the running statement, if it defers its changes
  // The running statements that require_after_triggers() last found nothing for, in this schema.
  std::optional<std::string> statements_passed_;
};

}  // namespace bloom
