#include "core/error.h"

namespace bloom {

void refuse(std::string_view subject, std::string_view rule, std::string_view value) {
  std::string text(subject);
  text.append(" must be ").append(rule).append(", got ").append(value);
  throw Error(Error::Kind::invalid, text);
}

void refuse(std::string_view sentence) { throw Error(Error::Kind::invalid, std::string(sentence)); }

}  // namespace bloom
