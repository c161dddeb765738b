// The triggers on a source. They record every change that a virtual table must know, in the
// transaction of the change.
//
// When the source or its columns are renamed, SQLite updates the triggers. When the source is
// dropped, SQLite drops them. The current names are therefore read from the triggers.
//
// With writers=any the triggers append new keys to the change log (sql/source/change_log.h). They
// are recorded BEFORE the row is written. If another trigger prevents the BEFORE triggers from
// running, SQLite does not write the row either, so no key is missed. The log can have too many
// keys: INSERT OR IGNORE records its key even if it then writes no row. The log never has too few:
// if a row of the log is not written, because of another trigger or an index on the log, the
// trigger fails. Removed keys are recorded AFTER, and only for a table that can remove them.
//
// A key of several columns is not known BEFORE an UPDATE, because another BEFORE trigger can change
// the columns that the UPDATE does not set. Such an UPDATE is announced BEFORE, and AFTER records
// the key and voids the announcement. If another AFTER trigger prevents that, the announcement
// stays, and tells that a key may be missing.
//
// A program can drop triggers and indexes, write rows, and create them again. To notice this, the
// last object is a sentinel: a view, which such a program leaves alone. It is newer than all others
// only as long as nobody has created these again. VACUUM keeps the order of triggers and views, and
// has tables and indexes before them. The dump of a newer shell has views before triggers: after it
// is loaded, the triggers count as created again, and lookups are refused until 'rebuild'.
//
// The text of the sentinel also says what was accepted: that the names differ from those of the
// options (accept_names() stores the names themselves in <name>_config), and that the source is
// newer than the side table (accept_source()).
//
// With writers=extension the triggers write commands to the bloom table. A counting filter must
// then receive each change exactly once, so its triggers run AFTER. Any other filter may receive
// too many keys. Its keys are added BEFORE the row is written. If a BEFORE trigger may not see the
// final value, such as a rowid that SQLite chooses, the key is added AFTER as well.
//
// An AFTER trigger that runs first can prevent later AFTER triggers from running, by raising IGNORE
// or FAIL. With writers=extension, BEFORE triggers therefore check for such AFTER triggers when
// they run.
//
// bloom_groups and bloom_search have triggers of their own: see TriggerSet.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/source/source.h"
#include "sql/source/triggers/trigger_sql.h"
#include "sql/vtab/shadow_tables.h"

namespace bloom {

// The triggers of a virtual table on its source. SourceTriggers finds them in the schema by their
// names. Another table may have triggers of the same names, so uninstall() drops only those that
// are on the source, or whose text writes to this virtual table or its side table: see writes_to().
struct TriggerSet {
  std::uint64_t number;  // kTriggersFor...
  // The suffix of the trigger from which the current names of the source are read. The trigger
  // names each column as old."column", in the order of the options and before any other column.
  // Empty: the virtual table itself updates the names.
  std::string_view names_suffix;
  bool has_sentinel = true;
  // Returns the triggers of `table`, with the suffixes of trigger_sql.h. `target` is the table that
  // they write to; it differs from `table` during ALTER TABLE ... RENAME.
  std::function<std::vector<Trigger>(const Source& source, const std::string& table,
                                     const std::string& target)>
      make;
};

// The table <name><suffix> to which triggers append. It is an ordinary table, not a shadow table:
// SQLITE_DBCONFIG_DEFENSIVE makes shadow tables read-only, for triggers as well.
struct SideTable {
  std::string_view suffix;
  std::string columns;  // as in CREATE TABLE: "(first UNIQUE)"

  std::string name(const std::string& table) const { return table + std::string(suffix); }
};

class SourceTriggers {
 public:
  // `sets`: all that the table can have. Names are taken from the first set that is found.
  SourceTriggers(Source& source, std::vector<TriggerSet> sets, SideTable side)
      : source_(source),
        sets_(std::move(sets)),
        side_(std::move(side)),
        accepted_{source_.names_from_options()} {}

  const SideTable& side() const { return side_; }
  bool has_sentinel(std::uint64_t trigger_set_number) const {
    return set_of(trigger_set_number).has_sentinel;
  }
  static constexpr std::uint64_t trigger_set_for(Writers writers) {
    return writers == Writers::any ? kTriggersForAny : kTriggersForExtension;
  }

  // The names by which queries know the source. If it or a column is renamed, and something else
  // gets such a name, queries may mean that. They are those of the options, until accept_names()
  // stores the current ones. Call install_sentinel() after it.
  const SourceNames& accepted_names() const { return accepted_.names; }
  void accept_names(const std::string& table);
  // Returns whether a tool has replaced the source: it is newer than the side table now, and was
  // older at the last call of accept_source(). 'rebuild' cannot make the side table again,
  // because SQLite cannot drop it then, so it accepts that the source is newer. A second
  // replacement is not noticed here.
  bool source_was_replaced(const StoredSchema& stored) const {
    return !accepted_.newer_source && source_is_newer_than_side(stored);
  }
  void accept_source(const std::string& table) {
    accepted_.newer_source = source_is_newer_than_side(read_stored(table));
  }

  // Checks the names that install() and the side table would have: see require_name_is_free().
  void require_names_are_free(const std::string& table, std::uint64_t trigger_set_number) const;
  // Creates or drops the triggers and the sentinel of the virtual table `table`.
  void install(const std::string& table, std::uint64_t trigger_set_number) const;
  void uninstall(const std::string& table) const;

  // Updates the names of the source: takes them from the triggers, of any set, or the accepted
  // names if there are no triggers.
  void find_names(const std::string& table);
  // Returns whether all triggers exist exactly as install() makes them, and were not created again
  // since. Also updates the names of the source: from the trigger TriggerSet::names_suffix, or
  // the accepted ones if that trigger is missing or changed. `stored`: what the schema has of the
  // table; `target`: see TriggerSet::make.
  bool refresh_names_and_check(const std::string& table, std::uint64_t trigger_set_number) {
    return refresh_names_and_check(read_stored(table), table, trigger_set_number);
  }
  bool refresh_names_and_check(const StoredSchema& stored, const std::string& target,
                               std::uint64_t trigger_set_number);

  // Returns the objects on the side table and the source, and the triggers. stored() reads them
  // only after a change of the schema, see SchemaReader.
  StoredSchema read_stored(const std::string& table) const {
    return source_.reader().read(table, source_.names().table);
  }
  const StoredSchema& stored(const std::string& table) const {
    return source_.reader().current(table, source_.names().table);
  }

  // Frees what is kept for the next check.
  void forget() {
    source_.reader().forget();
    made_.reset();
  }

  // Returns whether the sentinel is newer than the side table and the guard index.
  bool sentinel_is_newest(const StoredSchema& stored, const std::string& guard) const;

  // Returns the name of an index or trigger of another program that could keep rows out of the side
  // table; none if there is none.
  std::optional<std::string> object_on_side_table(const StoredSchema& stored) const;

  // Returns the name of an AFTER trigger on the source that SQLite runs before the filter's own;
  // none if there is no such trigger. It can prevent these from running: see the top. SQLite runs
  // newer triggers first, and TEMP triggers before all others.
  std::optional<std::string> blocking_trigger(const std::string& table) const;
  std::optional<std::string> blocking_temp_trigger() const;

 private:
  const TriggerSet& set_of(std::uint64_t trigger_set_number) const;
  void create(const Trigger& object) const;
  bool is_harmless(std::string_view name, std::string_view sql) const;
  std::optional<std::string> first_blocking_trigger(sqlite::Execution& run, bool is_temp) const;
  struct Accepted {
    SourceNames names;
    bool newer_source = false;
  };
  ShadowTables config_of(const std::string& table) const;
  bool source_is_newer_than_side(const StoredSchema& stored) const;
  Trigger sentinel(const std::string& table, const Accepted& accepted) const;
  Accepted stored_accepted(const StoredSchema& stored) const;
  const StoredObject* find_sentinel(const StoredSchema& stored) const;
  static const StoredObject* find(const StoredSchema& stored, std::string_view type,
                                  const Trigger& trigger);
  const std::vector<Trigger>* take_names(const StoredSchema& stored, const std::string& target,
                                         const TriggerSet& set);
  const std::vector<Trigger>& make(const TriggerSet& set, const std::string& table,
                                   const std::string& target);
  bool may_keep_rows_out(const StoredSchema& stored, std::string_view sql) const;

  Source& source_;
  const std::vector<TriggerSet> sets_;
  const SideTable side_;
  Accepted accepted_;
  // The triggers that were made last, and what they depend on.
  struct Made {
    SchemaReader::State schema;
    SourceNames names;
    std::uint64_t set;
    std::string table;
    std::string target;
    std::vector<Trigger> triggers;

    bool is_for(const Made& other) const {
      return schema == other.schema && names == other.names && set == other.set &&
             table == other.table && target == other.target;
    }
  };
  std::optional<Made> made_;
};

}  // namespace bloom
