// What the text of a trigger says.
#pragma once

#include <string>
#include <string_view>

namespace bloom {

// Returns whether the text writes commands to our virtual table `table`, or rows to its side table,
// as its own triggers do. If in doubt: true.
bool writes_to(const std::string& table, std::string_view sql);

// Returns whether each statement in the body of this trigger begins like a statement in the
// triggers of our virtual table `table`, and none can raise IGNORE or FAIL. If in doubt: false.
bool only_writes_to(const std::string& table, std::string_view sql);

// Returns whether the text is CREATE TABLE <name> with the columns of a change log, and nothing
// else. If in doubt: false.
bool makes_log(std::string_view sql);

// Returns whether the text is CREATE VIRTUAL TABLE ... USING with one of our modules. If in
// doubt: false.
bool makes_own_table(std::string_view sql);

// Returns when a trigger runs, from its CREATE statement as SQLite stores it. `before` includes
// INSTEAD OF. If in doubt: unknown.
enum class TriggerTime { before, after, unknown };
TriggerTime trigger_time(std::string_view sql);

}  // namespace bloom
