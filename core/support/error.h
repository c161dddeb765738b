// The exception class of core/, and the functions that build its messages. sql/ also throws
// SqliteError (sql/sqlite/guard.h).
//
// A message of core/ does not name the SQL function: "fpr must be a number between 0 and 1, got
// 1.5". The caller of core prepends it. A function of core/ that throws Error has changed nothing.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace bloom {

class Error : public std::runtime_error {
 public:
  enum class Kind {
    invalid,  // an argument breaks a rule
    damaged,  // stored bytes are corrupt
    too_big,  // the result is larger than its destination allows
  };

  Error(Kind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

// Returns "<subject> must be <rule>, got <value>".
std::string refusal(std::string_view subject, std::string_view rule, std::string_view value);

// Throws Error(Kind::invalid) with the text of refusal(). For arguments and options.
[[noreturn]] void refuse(std::string_view subject, std::string_view rule, std::string_view value);
// Throws Error(Kind::invalid) with `sentence`: what is wrong, and in brackets what to do.
[[noreturn]] void fail(const std::string& sentence);

}  // namespace bloom
