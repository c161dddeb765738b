#include "core/support/error.h"

namespace bloom {

std::string refusal(std::string_view subject, std::string_view rule, std::string_view value) {
  std::string text(subject);
  text.append(" must be ").append(rule).append(", got ").append(value);
  return text;
}

void refuse(std::string_view subject, std::string_view rule, std::string_view value) {
  throw Error(Error::Kind::invalid, refusal(subject, rule, value));
}

void fail(const std::string& sentence) { throw Error(Error::Kind::invalid, sentence); }

}  // namespace bloom
