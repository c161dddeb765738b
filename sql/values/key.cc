#include "sql/values/key.h"

#include <variant>

#include "core/filter/filter.h"

namespace bloom {

void Key::read_other(const sqlite::Value& value) {
  switch (type_) {
    case SQLITE_NULL:
      break;
    case SQLITE_INTEGER:
      number_.emplace(value.integer());
      break;
    case SQLITE_FLOAT:
      number_.emplace(value.real());
      break;
    default: {
      const auto blob = value.blob();
      bytes_ = {reinterpret_cast<const char*>(blob.data()), blob.size()};
    }
  }
}

bool Key::opens() const { return std::holds_alternative<FilterView>(open_filter(blob())); }

}  // namespace bloom
