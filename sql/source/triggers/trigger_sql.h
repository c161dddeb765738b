// The text of the triggers on a source. SourceTriggers says when they run, and why.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/source/source.h"
#include "sql/sqlite/statement.h"

namespace bloom {

// The suffix of a side table of changed rows.
inline constexpr std::string_view kChangedSuffix = "_changed";

// The commands that triggers write to the command column (writers=extension). `expect` announces
// that an AFTER trigger should report a row.
inline constexpr std::string_view kAddCommand = "add";
inline constexpr std::string_view kRemoveCommand = "remove";
inline constexpr std::string_view kExpectCommand = "expect";

// The trigger sets. A bloom table stores the number of its own. All are supported.
inline constexpr std::uint64_t kTriggersOfRelease1 = 0;  // neither `expect` nor a guard index
inline constexpr std::uint64_t kTriggersForExtension = 2;
inline constexpr std::uint64_t kTriggersForAny = 3;
inline constexpr std::uint64_t kTriggersForSearch = 4;   // of bloom_search
inline constexpr std::uint64_t kTriggersForMembers = 5;  // of bloom_groups

// What follows the name of the virtual table in the name of a trigger.
inline constexpr std::string_view kBeforeInsertSuffix = "_before_insert";
inline constexpr std::string_view kBeforeUpdateSuffix = "_before_update";
inline constexpr std::string_view kAfterInsertSuffix = "_after_insert";
inline constexpr std::string_view kAfterUpdateSuffix = "_after_update";
inline constexpr std::string_view kAfterDeleteSuffix = "_after_delete";

struct Trigger {
  // `suffix`: the name of the trigger without that of the virtual table `table`.
  Trigger(const std::string& table, std::string_view suffix, const std::string& event,
          const std::string& body);
  // The sentinel, which is a view.
  Trigger(std::string object, std::string create)
      : name(std::move(object)), sql(std::move(create)) {}

  std::string name;
  std::string sql;  // as in sqlite_schema
};

// What the change log gets of a key that leaves the source: nothing, the value of the first column,
// or all. A counting filter removes the key. A table of groups needs the first column, the member,
// which may have lost its last row.
enum class RemovedKey { nothing, first_column, all_columns };

// Return the triggers that append to the change log, and those that write commands to the bloom
// table `target`. `table` and `target` differ only during ALTER TABLE ... RENAME.
std::vector<Trigger> triggers_that_log(const Source& source, const std::string& table,
                                       RemovedKey removed);
std::vector<Trigger> triggers_that_command(const Source& source, const std::string& table,
                                           const std::string& target, bool counting,
                                           std::uint64_t trigger_set_number);

// Returns whether a trigger that runs AFTER adds keys to the filter, with writers=extension.
bool adds_keys_after(const Source& source, bool counting);

// Return a part of the text of every trigger that writes commands to the virtual table `table`, or
// appends to its change log: `("t", key) VALUES (` and `"t_pending"(token, added`.
std::string command_text_part(const std::string& table);
std::string log_text_part(const std::string& table);

}  // namespace bloom
