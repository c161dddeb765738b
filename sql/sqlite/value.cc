#include "sql/sqlite/value.h"

#include <new>

namespace bloom::sqlite {
namespace {

// Text of any length may come in; a sentence that quotes it should stay one.
constexpr std::size_t kQuotedBytes = 40;

// The first bytes of a text, cut between characters and not inside one.
std::string_view beginning(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) {
    return text;
  }
  constexpr auto is_continuation = [](char c) { return (c & 0xc0) == 0x80; };
  while (bytes > 0 && is_continuation(text[bytes])) {
    --bytes;
  }
  return text.substr(0, bytes);
}

}  // namespace

std::string_view Value::text() const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_value_text(value_));
  if (bytes == nullptr) {
    throw std::bad_alloc();
  }
  return {bytes, static_cast<std::size_t>(sqlite3_value_bytes(value_))};
}

std::span<const std::uint8_t> Value::blob() const {
  const auto* bytes = static_cast<const std::uint8_t*>(sqlite3_value_blob(value_));
  const auto size = static_cast<std::size_t>(sqlite3_value_bytes(value_));
  if (bytes == nullptr && size != 0) {
    throw std::bad_alloc();
  }
  return {bytes, size};
}

std::string Value::in_words() const {
  switch (type()) {
    case SQLITE_NULL:
      return "NULL";
    case SQLITE_BLOB:
      return "a blob of " + std::to_string(blob().size()) + " bytes";
    case SQLITE_TEXT: {
      const std::string_view whole = text();
      const std::string_view shown = beginning(whole, kQuotedBytes);
      std::string words(1, '\'');
      return words.append(shown).append(shown.size() < whole.size() ? "...'" : "'");
    }
    default:
      return std::string(text());
  }
}

}  // namespace bloom::sqlite
