#include "sql/group_table/range_triggers.h"

#include "sql/group_table/store/group_store.h"
#include "sql/sqlite/sql_text.h"

namespace bloom {

using sqlite::quoted_name;

// Rows after the last range need no note. A BEFORE INSERT trigger does not know the rowid that
// SQLite will choose: new.rowid is -1 then. SQLite takes the largest rowid plus 1, or a random
// rowid if the largest one possible is in use. The smallest rowid stands for that, and all ranges
// are noted. AFTER INSERT notes what a BEFORE trigger could not foresee: a row whose rowid is
// really -1, or chosen after another trigger has deleted rows.
std::vector<Trigger> triggers_that_note_ranges(const Source& followed, const std::string& table) {
  const SourceNames& names = followed.names();
  const std::string source = quoted_name(names.table);
  const std::string id = quoted_name(followed.rowid_alias());
  const std::string column = quoted_name(names.columns.front());
  const std::string members = quoted_name(GroupStore::members_table(table));
  const std::string known = "new." + id;
  const std::string smallest = "-9223372036854775808";
  const std::string chosen = "(SELECT CASE max(" + id + ") WHEN 9223372036854775807 THEN " +
                             smallest + " ELSE coalesce(max(" + id + "), 0) + 1 END FROM " +
                             source + ")";
  const std::string expected = "CASE " + known + " WHEN -1 THEN " + chosen + " ELSE coalesce(" +
                               known + ", " + smallest + ") END";
  const auto is_summarized = [&](const std::string& rowid) {
    return rowid + " <= (SELECT v FROM " + quoted_name(GroupStore::config_table(table)) +
           " WHERE k = 'summarized')";
  };
  // `first` selects the first rowid of the range, or NULL for all ranges. A trigger on the table of
  // changed ranges could keep the row out.
  const auto note = [&](const std::string& first) {
    const std::string if_missing =
        " FROM (SELECT " + first + " AS first) AS r WHERE NOT EXISTS (SELECT 1 FROM " +
        quoted_name(table + std::string(kChangedSuffix)) + " AS c WHERE c.first IS r.first);";
    return " INSERT INTO " + note_columns(table) + "SELECT r.first" + if_missing +
           " SELECT raise(ABORT, 'the changed range of a skip index was not noted')" + if_missing;
  };
  const auto range_of = [&](const std::string& rowid) {
    return "(SELECT max(member) FROM " + members + " WHERE member <= " + rowid + ")";
  };
  const std::string expected_range =
      "CASE WHEN " + expected + " > " + smallest + " THEN " + range_of(expected) + " END";
  const std::string on = " ON " + source + " WHEN ";
  return {{table, names.table, kBeforeInsertSuffix, "INSERT" + on + is_summarized(expected),
           note(expected_range)},
          {table, names.table, kAfterInsertSuffix, "INSERT" + on + is_summarized(known),
           note(range_of(known))},
          {table, names.table, kBeforeUpdateSuffix,
           "UPDATE" + on + "(old." + column + " IS NOT new." + column + " OR old." + id +
               " IS NOT new." + id + ") AND " + is_summarized(known),
           note(range_of(known))}};
}

}  // namespace bloom
