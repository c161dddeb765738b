#include "sql/table/options.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/sizing.h"
#include "sql/arguments.h"
#include "sql/sqlite/statement.h"

namespace bloom {
namespace {

constexpr std::array<std::string_view, 8> kNames = {"capacity", "fpr",   "kind",   "block",
                                                    "seed",     "cells", "hashes", "cache"};

// Room for the filter of 53 million keys at 1 %. A smaller one takes its own size only.
constexpr std::uint64_t kDefaultCache = 64U << 20U;
// One chunk; and what keeps the list of chunks within 60 MB, whatever a schema asks for.
constexpr std::uint64_t kLeastCache = 4096;
constexpr std::uint64_t kMostCache = std::uint64_t{1} << 32U;

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_space(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  return result;
}

// What stands between quotes, in which a doubled quote is one; none without quotes around it all.
std::optional<std::string> unquoted(std::string_view text) {
  if (text.size() < 2 || (text.front() != '\'' && text.front() != '"') ||
      text.back() != text.front()) {
    return std::nullopt;
  }
  const char quote = text.front();
  std::string inner;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] == quote && (i + 2 == text.size() || text[++i] != quote)) {
      return std::nullopt;
    }
    inner += text[i];
  }
  return inner;
}

// SQLite itself tells which words are numbers.
sqlite::OwnedValue value_of(sqlite3* db, std::string_view text) {
  const std::optional<std::string> inner = unquoted(text);
  const sqlite::Statement select(db, "SELECT ?1");
  sqlite::Run run(select);
  run.bind(1, inner ? std::string_view(*inner) : text).step();
  sqlite::OwnedValue value = run.value(0);
  if (!inner) {
    sqlite3_value_numeric_type(value.get());
  }
  return value;
}

// "capacity, fpr, ... or cache".
std::string names_in_words() {
  std::string words;
  for (const std::string_view name : kNames) {
    words.append(words.empty() ? "" : name == kNames.back() ? " or " : ", ").append(name);
  }
  return words;
}

}  // namespace

Options::Options(sqlite3* db, std::span<const char* const> arguments) {
  for (const char* argument : arguments) {
    const std::string_view text = trimmed(argument);
    if (text.empty() && arguments.size() == 1) {
      return;  // USING bloom()
    }
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) {
      refuse("an option", "name=value, as capacity=1000000", sqlite::quoted_text(text));
    }
    const std::string name = lower(trimmed(text.substr(0, equals)));
    if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) {
      refuse("the name of an option", names_in_words(), sqlite::quoted_text(name));
    }
    if (has(name.c_str())) {
      refuse("option " + name, "given once", "it again");
    }
    values_.emplace(name, value_of(db, trimmed(text.substr(equals + 1))));
  }
}

Header Options::header() const {
  refuse_both("cells", "capacity");
  refuse_both("cells", "fpr");
  Header header = has("cells") || has("hashes") ? exact() : sized();
  if (has("seed")) {
    header.shape.seed =
        static_cast<std::uint32_t>(count_argument(value("seed"), "seed", 0, kMaxSeed));
  }
  return header;
}

std::uint64_t Options::cache_bytes() const {
  return has("cache") ? count_argument(value("cache"), "cache", kLeastCache, kMostCache)
                      : kDefaultCache;
}

Value Options::value(const char* name) const { return Value(values_.find(name)->second.get()); }

void Options::refuse_both(const char* name, const char* other) const {
  if (has(name) && has(other)) {
    refuse(std::string("option ") + other, std::string("left out where ") + name + " is given",
           Options::value(other).in_words());
  }
}

Header Options::sized() const {
  if (!has("capacity")) {
    refuse("the options",
           "capacity=N, or cells=M and hashes=K (this version has no tables that grow)", "neither");
  }
  const std::uint64_t capacity = count_argument(value("capacity"), "capacity", 1, kMaxKeys);
  const double fpr = has("fpr") ? rate_argument(value("fpr"), "fpr") : kDefaultFpr;
  const Kind kind = has("kind") ? kind_argument(value("kind")) : Kind::standard;
  return has("block") ? header_for(capacity, fpr, kind,
                                   count_argument(value("block"), "block", 0, kMaxCells))
                      : header_for(capacity, fpr, kind);
}

Header Options::exact() const {
  if (!has("cells") || !has("hashes")) {
    refuse("cells and hashes", "given together", has("cells") ? "cells only" : "hashes only");
  }
  Header header;
  Shape& shape = header.shape;
  shape.cells = count_argument(value("cells"), "cells", 1, kMaxCells);
  shape.hashes =
      static_cast<std::uint32_t>(count_argument(value("hashes"), "hashes", 1, kMaxHashes));
  if (has("kind")) {
    shape.kind = kind_argument(value("kind"));
  }
  if (has("block")) {
    shape.block = count_argument(value("block"), "block", 0, kMaxCells);
  }
  require_valid(shape);
  return header;
}

}  // namespace bloom
