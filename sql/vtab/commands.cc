#include "sql/vtab/commands.h"

#include "core/support/error.h"

namespace bloom {

void refuse_command(const sqlite::Value& command, const std::vector<const char*>& names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_last = i + 1 == names.size();
    list.append(i == 0 ? "'" : is_last ? " and '" : ", '").append(names[i]).append("'");
  }
  fail("unknown command " + command.describe() + " (the commands are " + list + ")");
}

}  // namespace bloom
