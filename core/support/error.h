// The one exception of the project, and the one place where its sentences are built.
//
// Core states what is wrong ("fpr must be a number between 0 and 1, got 1.5"); whoever called core
// puts the name of the function in front. Nothing is changed when an Error is thrown.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace bloom {

class Error : public std::runtime_error {
 public:
  enum class Kind {
    invalid,  // an argument breaks a rule
    damaged,  // stored bytes are not what was written
    too_big,  // the result would not fit where it has to go
  };

  Error(Kind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

// "<subject> must be <rule>, got <value>".
std::string refusal(std::string_view subject, std::string_view rule, std::string_view value);

// Throws an Error of that text. For arguments and options.
[[noreturn]] void refuse(std::string_view subject, std::string_view rule, std::string_view value);
// Throws an Error of a sentence of its own: what is wrong, and in brackets what to do.
[[noreturn]] void fail(const std::string& sentence);

}  // namespace bloom
