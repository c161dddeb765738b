#include "sql/table/options.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/sizing.h"
#include "sql/arguments.h"
#include "sql/sqlite/sql_text.h"
#include "sql/sqlite/statement.h"

namespace bloom {
namespace {

using sqlite::trimmed;

constexpr std::array<std::string_view, 12> kNames = {"capacity", "fpr",    "kind",   "block",
                                                     "seed",     "cells",  "hashes", "growth",
                                                     "collate",  "source", "column", "cache"};

// Room for the filter of 53 million keys at 1 %. A smaller one takes its own size only.
constexpr std::uint64_t kDefaultCache = 64U << 20U;
// One chunk; and what keeps the list of chunks within 60 MB, whatever a schema asks for.
constexpr std::uint64_t kLeastCache = 4096;
constexpr std::uint64_t kMostCache = std::uint64_t{1} << 32U;

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  return result;
}

// SQLite itself tells which words are numbers. A list of names is kept as it is written.
sqlite::OwnedValue value_of(sqlite3* db, std::string_view text, bool list) {
  const std::optional<std::string> inner = list ? std::string(text) : sqlite::unquoted(text);
  const sqlite::Statement select(db, "SELECT ?1");
  sqlite::Run run(select);
  run.bind(1, inner ? std::string_view(*inner) : text).step();
  sqlite::OwnedValue value = run.copy(0);
  if (!inner) {
    sqlite3_value_numeric_type(value.get());
  }
  return value;
}

std::string text_argument(const Value& value, std::string_view name) {
  if (value.type() != SQLITE_TEXT || value.text().empty()) {
    refuse(name, "a name", value.in_words());
  }
  return std::string(value.text());
}

bool switch_argument(const Value& value, std::string_view name) {
  const std::string word = value.type() == SQLITE_TEXT ? lower(value.text()) : "";
  if (word != "on" && word != "off") {
    refuse(name, "on or off", value.in_words());
  }
  return word == "on";
}

std::vector<std::string> names_argument(const Value& value, std::string_view name) {
  const std::string text = text_argument(value, name);
  std::vector<std::string> names = sqlite::names_in(text);
  if (std::any_of(names.begin(), names.end(), [](const auto& each) { return each.empty(); })) {
    refuse(name, "a name, or names in brackets: (a, b)", sqlite::quoted_text(text));
  }
  return names;
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
    values_.emplace(name, value_of(db, trimmed(text.substr(equals + 1)), name == "column"));
  }
  if (has("collate")) {
    const std::string name = text_argument(value("collate"), "collate");
    const auto collation = collation_named(name);
    if (!collation) {
      refuse("collate", kCollationRule, sqlite::quoted_text(name));
    }
    collation_ = *collation;
  }
}

std::optional<Growth> Options::growth() const {
  return grows() ? std::optional(target()) : std::nullopt;
}

bool Options::grows() const {
  const bool exact = has("cells") || has("hashes");
  if (!has("growth")) {
    return !has("capacity") && !exact && kind() != Kind::counting;
  }
  const bool on = switch_argument(value("growth"), "growth");
  if (on && exact) {
    refuse_both("cells", "growth");
  }
  if (on && kind() == Kind::counting) {
    refuse("growth of a counting filter",
           "off (a key could be removed from a layer that it is not in)", "on");
  }
  return on;
}

bool Options::sizes_itself() const {
  return has("source") && !has("capacity") && !has("cells") && !has("hashes");
}

Header Options::header(std::uint64_t keys) const {
  refuse_both("cells", "capacity");
  refuse_both("cells", "fpr");
  Header header = has("cells") || has("hashes") ? exact() : sized(keys);
  header.shape.seed = target().seed;
  header.shape.collation = collation_;
  return header;
}

void Options::take_collation(Collation collation) {
  if (!has("collate")) {
    collation_ = collation;
  }
}

std::optional<SourceNames> Options::source() const {
  if (!has("source") && !has("column")) {
    return std::nullopt;
  }
  if (!has("source") || !has("column")) {
    refuse("source and column", "given together", has("source") ? "source only" : "column only");
  }
  return SourceNames{text_argument(value("source"), "source"),
                     names_argument(value("column"), "column")};
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

double Options::fpr() const {
  return has("fpr") ? rate_argument(value("fpr"), "fpr") : kDefaultFpr;
}

Kind Options::kind() const { return has("kind") ? kind_argument(value("kind")) : Kind::standard; }

std::optional<std::uint64_t> Options::block() const {
  return has("block") ? std::optional(count_argument(value("block"), "block", 0, kMaxCells))
                      : std::nullopt;
}

Growth Options::target() const {
  const auto seed = has("seed") ? count_argument(value("seed"), "seed", 0, kMaxSeed) : 0;
  return {.fpr = fpr(),
          .kind = kind(),
          .block = block(),
          .seed = static_cast<std::uint32_t>(seed),
          .collation = collation_};
}

Header Options::sized(std::uint64_t keys) const {
  const bool growing = grows();
  if (!has("capacity") && !has("source") && !growing) {
    refuse("the options", "capacity=N, or cells=M and hashes=K, where the table does not grow",
           "neither");
  }
  const std::uint64_t stated =
      has("capacity") ? count_argument(value("capacity"), "capacity", 1, kMaxKeys) : kFirstCapacity;
  const std::uint64_t capacity = std::max(stated, std::min(keys + keys / 2, kMaxKeys));
  if (growing) {
    return first_layer(target(), capacity);
  }
  const auto size = block();
  return size ? header_for(capacity, fpr(), kind(), *size) : header_for(capacity, fpr(), kind());
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
  shape.kind = kind();
  shape.block = block().value_or(0);
  require_valid(shape);
  return header;
}

}  // namespace bloom
