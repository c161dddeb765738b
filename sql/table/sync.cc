#include "sql/table/sync.h"

#include <algorithm>
#include <cmath>

#include "core/cardinality.h"
#include "core/error.h"
#include "sql/arguments.h"
#include "sql/sqlite/guard.h"

namespace bloom {
namespace {

using sqlite::quoted_text;
using sqlite::SqliteError;

constexpr std::string_view kMend = "the command 'rebuild' mends that";
constexpr std::string_view kMendOrDrop =
    "the command 'rebuild' mends that, and where the source is gone DROP TABLE is left";

}  // namespace

void Sync::create(PagedFilter& filter, const Options& options) {
  source_.require_fit(options.collation());
  filter.create(options.header(count_keys(options.collation())),
                [&](const auto& add) { fill(filter, add); });
  source_.install(filter.table());
}

void Sync::drop(PagedFilter& filter) {
  source_.uninstall(filter.table());
  filter.drop();
}

void Sync::rename(PagedFilter& filter, const char* name) {
  const std::string old_name = filter.table();
  // ALTER TABLE has changed the triggers already, unless it is to be as it was in old versions.
  const bool installed = source_.find(old_name, name) || source_.find(old_name);
  filter.rename(name);
  source_.uninstall(old_name);
  if (installed) {
    source_.install(name);
  }
}

void Sync::rebuild(PagedFilter& filter, const Options& options) {
  const bool installed = source_.find(filter.table()) && !source_.obstacle(filter.table());
  source_.require_fit(options.collation());
  filter.remake(options.header(count_keys(options.collation())),
                [&](const auto& add) { fill(filter, add); });
  if (!installed) {
    source_.uninstall(filter.table());
    source_.install(filter.table());
  }
}

bool Sync::is_change(std::string_view command) {
  return command == Source::kAdd || command == Source::kRemove;
}

// Takes no account of the conflict rule of the statement that fired the trigger.
void Sync::change(PagedFilter& filter, std::string_view command, const sqlite::Value& value) {
  const Key key(value);
  if (key.is_null()) {
    return;
  }
  const Hash hash = key.hash(filter.shape());
  if (command == Source::kAdd) {
    filter.put(hash);
  } else if (filter.shape().kind != Kind::counting) {
    filter.count_stale();
  } else if (!filter.remove(hash)) {
    refuse("the key of a row that goes away",
           std::string("in the filter, which is out of step with its source (")
               .append(kMend)
               .append(")"),
           value.in_words());
  }
}

void Sync::require_in_step(const PagedFilter& filter) {
  if (is_checked()) {
    return;
  }
  const std::string triggers = "the triggers of source " + quoted_text(source());
  if (!source_.find(filter.table())) {
    refuse(triggers, std::string("as they were made (").append(kMendOrDrop).append(")"),
           "others, or not all of them");
  }
  if (const auto trigger = source_.obstacle(filter.table())) {
    refuse(triggers,
           std::string("newer than others that run AFTER, which may stop them (")
               .append(kMend)
               .append(")"),
           quoted_text(*trigger));
  }
  checked_ = true;
  checked_version_ = source_.schema_version();
}

// SQLite makes new objects of all tables when it rolls a change of the schema back, so that a
// version cannot come again with another schema.
bool Sync::is_checked() {
  checked_ = checked_ || checked_version_ == source_.schema_version();
  return checked_;
}

void Sync::check(PagedFilter& filter) {
  if (!source_.find(filter.table())) {
    throw SqliteError(SQLITE_CORRUPT_VTAB, "the triggers of the source are not as they were made");
  }
  source_.for_each_key([&](const sqlite::Value& value) {
    if (!filter.may_contain(Key(value).hash(filter.shape()))) {
      throw SqliteError(SQLITE_CORRUPT_VTAB,
                        "the source has " + value.in_words() + ", which the filter does not have");
    }
  });
}

void Sync::fill(PagedFilter& filter, const PagedFilter::Add& add) const {
  const Shape shape = filter.shape();
  source_.for_each_key([&](const sqlite::Value& value) { add(Key(value).hash(shape)); });
}

std::uint64_t Sync::count_keys(Collation collation) const {
  Cardinality keys;
  Shape shape;
  shape.collation = collation;
  std::uint64_t rows = 0;
  source_.for_each_key([&](const sqlite::Value& value) {
    keys.add(Key(value).hash(shape));
    ++rows;
  });
  // Somebody may have chosen the keys to look like more.
  return std::min(rows, static_cast<std::uint64_t>(std::llround(keys.estimate())));
}

}  // namespace bloom
