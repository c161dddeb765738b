#include "sql/sqlite/value.h"

#include <algorithm>
#include <new>

#include "sql/sqlite/connection.h"
#include "sql/sqlite/guard.h"

namespace bloom::sqlite {
namespace {

// Longer strings are cut in error messages, so that the message stays readable. In bytes.
constexpr std::size_t kQuotedBytes = 40;

// Returns the size in bytes of the UTF-8 character at the start of the text. Returns 0 if the bytes
// are not valid UTF-8, or if the character is a control character or a surrogate.
std::size_t first_character(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t size = byte(0) < 0x80 ? 1 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
  const bool control = byte(0) < 0x20 || byte(0) == 0x7f;
  const bool no_start = byte(0) >= 0x80 && (byte(0) < 0xc2 || byte(0) > 0xf4);
  if (control || no_start || text.size() < size || (byte(0) == 0xed && byte(1) >= 0xa0)) {
    return 0;
  }
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) {
      return 0;
    }
  }
  return size;
}

}  // namespace

std::string quoted_text(std::string_view text) {
  std::string words(1, '\'');
  while (!text.empty() && words.size() <= kQuotedBytes) {
    const std::size_t size = first_character(text);
    words.append(size == 0 ? "?" : text.substr(0, size));
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return words.append(text.empty() ? "'" : "...'");
}

// SQLite removes a byte order mark from a text in UTF-16 that it binds, so another one comes first.
int Value::bind_marked(sqlite3_stmt* statement, int parameter) const {
  const Encoding encoding = encoding_of(sqlite3_db_handle(statement));
  if (encoding == Encoding::utf8) {
    return sqlite3_bind_value(statement, parameter, value_);
  }
  const bool is_little = encoding == Encoding::utf16_little;
  const auto bytes = blob();
  CountedString marked(is_little ? "\xFF\xFE" : "\xFE\xFF");
  marked.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return sqlite3_bind_text64(statement, parameter, marked.data(), marked.size(), SQLITE_TRANSIENT,
                             is_little ? SQLITE_UTF16LE : SQLITE_UTF16BE);
}

void ReusableValue::assign(const Value& value, bool may_convert) {
  const int type = value.type();
  if (!may_convert) {
    copy_ = value.copy();
    type_ = type;
    return;
  }
  if (type == SQLITE_TEXT) {
    return assign_text(value.text());
  }
  if (type == SQLITE_BLOB) {
    const auto blob = value.blob();
    return assign_bytes(type, {reinterpret_cast<const char*>(blob.data()), blob.size()});
  }
  if (type == SQLITE_INTEGER) {
    return assign_integer(value.integer());
  }
  if (type == SQLITE_FLOAT) {
    return assign_real(value.real());
  }
  type_ = type;
  copy_.reset();
}

void ReusableValue::set_result(sqlite3_context* context) const {
  if (copy_) {
    return sqlite3_result_value(context, copy_.get());
  }
  switch (type_) {
    case SQLITE_INTEGER:
      return sqlite3_result_int64(context, integer_);
    case SQLITE_FLOAT:
      return sqlite3_result_double(context, real_);
    case SQLITE_TEXT:
      return sqlite3_result_text64(context, bytes().data(), size_, SQLITE_TRANSIENT, SQLITE_UTF8);
    case SQLITE_BLOB:
      return sqlite3_result_blob64(context, bytes().data(), size_, SQLITE_TRANSIENT);
    default:
      return sqlite3_result_null(context);
  }
}

std::string Value::describe() const {
  switch (type()) {
    case SQLITE_NULL:
      return "NULL";
    case SQLITE_BLOB:
      return "a blob of " + std::to_string(blob().size()) + " bytes";
    case SQLITE_TEXT:
      return quoted_text(text());
    default:
      return std::string(text());
  }
}

void Value::for_each_in_list(const std::function<void(const Value&)>& f) const {
#if SQLITE_VERSION_NUMBER >= 3038000
  sqlite3_value* value = nullptr;
  int code = sqlite3_vtab_in_first(value_, &value);
  for (; code == SQLITE_OK; code = sqlite3_vtab_in_next(value_, &value)) {
    f(Value(value));
  }
  if (code != SQLITE_DONE) {
    throw SqliteError(code, "the values of IN cannot be read");
  }
#else
  static_cast<void>(f);
#endif
}

}  // namespace bloom::sqlite
