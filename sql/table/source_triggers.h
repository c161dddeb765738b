// The triggers on a source. They pass every change to the bloom table, in the transaction of the
// change.
//
// When the source or its columns are renamed, SQLite updates the triggers. When the source is
// dropped, SQLite drops them. The current names are therefore read from the triggers.
//
// With writers=any the triggers append each change to the change log (sql/table/change_log.h).
// Added keys are recorded BEFORE the row is written. If another trigger prevents the BEFORE
// triggers from running, SQLite does not write the row either, so no key is missed. Removed keys
// are recorded AFTER. The log can have too many keys: INSERT OR IGNORE records its key even if it
// then writes no row. The log never has too few.
//
// With writers=extension the triggers write commands to the bloom table. A counting filter must
// then receive each change exactly once, so its triggers run AFTER. Any other filter may receive
// too many keys. Its keys are added BEFORE the row is written. If a BEFORE trigger may not see the
// final value, such as a rowid that SQLite chooses, the key is added AFTER as well.
//
// The triggers of a bloom_groups table (sql/table/row_ranges.h) are plain SQL as well. They only
// note which range of rows has changed.
//
// An AFTER trigger that runs first can prevent later AFTER triggers from running, by raising IGNORE
// or FAIL. With writers=extension, BEFORE triggers therefore check for such AFTER triggers when
// they run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/table/source.h"
#include "sql/table/store.h"

namespace bloom {

class SourceTriggers {
 public:
  // The commands that triggers write to the command column (writers=extension). `expect` announces
  // that an AFTER trigger should report a row.
  static constexpr std::string_view kAdd = "add";
  static constexpr std::string_view kRemove = "remove";
  static constexpr std::string_view kExpect = "expect";

  // Versions of the triggers, stored in Config::trigger_version. All are supported.
  static constexpr std::uint64_t kVersionOfRelease1 =
      0;  // of 1.0: neither `expect` nor a guard index
  static constexpr std::uint64_t kVersionForExtension = 2;               // for writers=extension
  static constexpr std::uint64_t kVersionForAny = Config::kLogTriggers;  // for writers=any
  static constexpr std::uint64_t kVersionForRanges = 4;                  // of bloom_groups
  static constexpr std::uint64_t version_for(Writers writers) {
    return writers == Writers::any ? kVersionForAny : kVersionForExtension;
  }

  SourceTriggers(Source& source, bool counting) : source_(source), counting_(counting) {}

  // Creates or drops the triggers of the bloom table `table`.
  void install(const std::string& table, std::uint64_t version) const;
  void uninstall(const std::string& table) const;

  // Updates the names of the source: takes them from the triggers, of any version, or from the
  // options if there are no triggers.
  void find_names(const std::string& table);
  // Returns whether all triggers exist exactly as install() makes them. Also updates the names of
  // the source. They are read from the last trigger that install() makes, or from the options if
  // that trigger is missing or changed. `target` is the table that the triggers write to; it
  // differs from `table` during ALTER TABLE ... RENAME.
  bool refresh_names_and_check(const std::string& table, std::uint64_t version) {
    return refresh_names_and_check(table, table, version);
  }
  bool refresh_names_and_check(const std::string& table, const std::string& target,
                               std::uint64_t version);

  // Returns the name of an AFTER trigger on the source that SQLite runs before the filter's own;
  // none if there is no such trigger. SQLite runs newer triggers first, and TEMP triggers before
  // all others. By RAISE(IGNORE) or RAISE(FAIL) such a trigger can prevent the filter's triggers
  // from running, although the row was written.
  std::optional<std::string> blocking_trigger(const std::string& table) const;
  std::optional<std::string> blocking_temp_trigger() const;
  // Returns whether AFTER triggers of writers=extension add keys to the filter.
  bool add_keys_after() const { return counting_ || needs_after(source_.facts()); }

 private:
  struct Trigger;

  static bool is_stored(const std::vector<Trigger>& stored, const Trigger& trigger);
  bool take_names(const std::vector<Trigger>& stored, const std::string& table,
                  const std::string& target, std::uint64_t version);
  bool needs_after(const ColumnFacts& facts) const;
  std::string update_event(const ColumnFacts& facts) const;
  std::vector<Trigger> triggers(const std::string& table, const std::string& target,
                                std::uint64_t version) const;
  std::vector<Trigger> triggers_that_note_ranges(const std::string& table) const;
  std::vector<Trigger> triggers_that_log(const std::string& table, const std::string& target) const;
  std::vector<Trigger> triggers_that_command(const std::string& table, const std::string& target,
                                             std::uint64_t version) const;
  std::vector<Trigger> stored_triggers(const std::string& table) const;

  Source& source_;
  bool counting_;
};

}  // namespace bloom
