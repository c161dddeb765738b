// The commands of a virtual table: INSERT INTO t(t) VALUES ('clear'). A text value in the column
// named like the table is a command. Some take an argument, which is the value of another column of
// the same row.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/support/ascii.h"
#include "sql/sqlite/value.h"

namespace bloom {

template <typename Table>
struct Command {
  const char* name;
  const char* argument;  // the column of the argument; null if the command takes none
  void (*run)(Table& table, const sqlite::Value& argument);
};

// Throws the error about a command that is none of `names`.
[[noreturn]] void refuse_command(const sqlite::Value& command,
                                 const std::vector<const char*>& names);

// Returns the command of this name, in any case. Throws bloom::Error for other values.
template <typename Table>
const Command<Table>& find_command(std::span<const Command<Table>> commands,
                                   const sqlite::Value& command) {
  std::vector<const char*> names;
  for (const Command<Table>& each : commands) {
    if (command.type() == SQLITE_TEXT && equal_ignoring_case(command.text(), each.name)) {
      return each;
    }
    names.push_back(each.name);
  }
  refuse_command(command, names);
}

}  // namespace bloom
