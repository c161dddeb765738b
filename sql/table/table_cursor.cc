// The lookups of a bloom table, and the columns of its rows.
#include <algorithm>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/hashing/key.h"
#include "core/operations/totals.h"
#include "core/support/error.h"
#include "sql/sqlite/context.h"
#include "sql/table/table.h"
#include "sql/values/arguments.h"
#include "sql/values/info_json.h"
#include "sql/values/results.h"

namespace bloom {
namespace {

constexpr std::string_view kReadTable = "look keys up in the table itself, or halve it";
constexpr char kCannotScan[] =
    "cannot list the keys of a Bloom filter (give the key: key = ?, key IN (...), JOIN ... ON "
    "key = t.k, or EXISTS (SELECT 1 FROM ... WHERE key = t.k); the column keys says how many keys "
    "there are";

// Returns, for an error message, how keys can be compared with a filter of collation `own`.
std::string collation_rule(Collation own) {
  if (own == Collation::binary) {
    return "compare it with COLLATE BINARY, or make the table with collate=nocase or "
           "collate=rtrim";
  }
  return "compare it with COLLATE " + std::string(name_of(own)) + " or BINARY";
}

}  // namespace

void BloomTable::Cursor::filter(int plan, const char* idx_string, const Values& values) {
  filter_.prepare_lookup();
  estimates_.clear();
  plan_ = static_cast<Plan>(plan);
  switch (plan_) {
    case Plan::lookup_collated:
      if (filter_.shape().collation != table_.options_.collation()) {
        fail("the column of the source has the collation " +
             std::string(name_of(table_.options_.collation())) + " now, and the filter has " +
             std::string(name_of(filter_.shape().collation)) +
             " (drop the filter and make it again)");
      }
      [[fallthrough]];
    case Plan::lookup:
      require_filter_operands(values, 1);
      return look_up(values[0]);
    case Plan::properties:
      require_in_sync();
      require_filter_operands(values, 0);
      rows_ = 1;
      return;
    case Plan::count:
      require_in_sync();
      rows_ = count_keys();
      return;
    case Plan::refused_collation:
      fail("the filter cannot compare key under the collation " +
           std::string(idx_string).substr(kUnsupportedCollationPrefix.size()) + " (" +
           collation_rule(table_.options_.collation()) + ")");
  }
}

void BloomTable::Cursor::refuse_scan() const {
  fail(std::string(kCannotScan) +
       (table_.follower_ ? ")" : ", and the command 'clear' empties the table)"));
}

void BloomTable::Cursor::require_in_sync() {
  if (table_.follower_) {
    if (const auto problem = table_.follower_->out_of_sync(filter_)) {
      fail(*problem);
    }
  }
}

// Returns whether the filter can answer. If it cannot, throws, except with on_stale=maybe.
bool BloomTable::Cursor::is_in_sync() {
  if (table_.options_.answers_maybe_when_stale()) {
    return !table_.follower_->out_of_sync(filter_);
  }
  require_in_sync();
  return true;
}

// Checks that every value compared with the column `filter` is a filter. Other values are a
// mistake. They come from the call f('x'), which looks up a key in tables of other extensions;
// SQLite turns it into filter = 'x'.
void BloomTable::Cursor::require_filter_operands(const Values& values, int first) {
  for (int i = first; i < values.size(); ++i) {
    if (!values[i].is_null() && (values[i].type() != SQLITE_BLOB ||
                                 std::holds_alternative<Problem>(open_filter(values[i].blob())))) {
      fail("the column filter is compared with " + values[i].describe() +
           ", which is no filter (look a key up by key = ?, not as an argument of the table)");
    }
  }
}

// A key of another form is in no filter of several columns, so looking it up is a mistake.
void BloomTable::Cursor::require_composite(const Key& key, const Value& value) const {
  if (!key.is_null() && count_parts(key.bytes()) != key_columns_) {
    std::string call;
    for (const std::string& column : table_.follower_->columns()) {
      call.append(call.empty() ? "bloom_key(" : ", ").append(column);
    }
    refuse("key",
           call + "), because the filter follows " + std::to_string(key_columns_) + " columns",
           value.describe());
  }
}

void BloomTable::Cursor::look_up(const Value& value) {
  const bool in_sync = is_in_sync();
  // The hash reads `value`, not the copy in key_: reading bytes just after writing them is slow.
  const Key key(value);
  if (key_columns_ > 1) {
    require_composite(key, value);
  }
  if (key.is_text()) {
    key_.assign_text(key.bytes());
  } else {
    key_.assign(value);
  }
  if (key.is_null()) {
    rows_ = 0;
    return;
  }
  bool found = !in_sync || filter_.may_contain(key.hash(filter_.shape()));
  if (table_.follower_ && in_sync) {
    found |= table_.follower_->comparison().may_contain_equal(filter_, key, value, key_);
  }
  filter_.count_lookup(found);
  rows_ = found ? 1 : 0;
}

// Never returns 0 if there may be a key: `x IN (SELECT key FROM seen)` must fail then, rather than
// find nothing.
std::uint64_t BloomTable::Cursor::count_keys() {
  const auto is_empty = [](const Estimate& estimate) { return estimate.fill == 0; };
  const std::uint64_t pending = filter_.log_size();
  if (pending == 0 && std::all_of(estimates().begin(), estimates().end(), is_empty)) {
    return 0;
  }
  const auto keys = rounded_keys(total_estimate(filter_.layers().headers(), estimates()));
  return std::max<std::uint64_t>(keys, 1);
}

const std::vector<Estimate>& BloomTable::Cursor::estimates() {
  if (estimates_.empty()) {
    estimates_ = filter_.estimates();
  }
  return estimates_;
}

void BloomTable::Cursor::column(sqlite3_context* raw, int i) {
  if (sqlite3_vtab_nochange(raw) != 0) {
    return;
  }
  const bool is_key = i == static_cast<int>(Column::key);
  if (plan_ == Plan::count || (plan_ == Plan::properties && is_key)) {
    refuse_scan();
  }
  Context context(raw);
  const auto headers = [this] { return filter_.layers().headers(); };
  const auto set_count = [&](std::uint64_t count) {
    context.result_int64(static_cast<std::int64_t>(count));
  };
  switch (static_cast<Column>(i)) {
    case Column::key:
      return key_.set_result(raw);
    case Column::filter:
      // With on_stale=maybe, a lookup finds its row although keys may be missing from the filter.
      require_in_sync();
      table_.require_one_layer("read the filter of");
      require_within_limit(context, "the filter", stored_bytes(filter_.shape()), kReadTable);
      return return_filter(context, filter_.read_filter());
    case Column::info:
      return context.result_text(table_.info(estimates()));
    case Column::keys:
      return set_count(rounded_keys(total_estimate(headers(), estimates())));
    case Column::fpr:
      return context.result_double(total_estimate(headers(), estimates()).fpr);
    case Column::capacity:
      if (const std::uint64_t capacity = total_capacity(headers()); capacity != 0) {
        set_count(capacity);
      }
      return;
    case Column::bytes:
      return set_count(total_bytes(headers()));
    case Column::overfull:
      return context.result_bool(is_overfull(headers(), estimates()));
    case Column::layers:
      return set_count(headers().size());
    case Column::generations:
      if (filter_.has_generations()) {
        set_count(headers().size());
      }
      return;
    case Column::stale:
      if (table_.follower_) {
        set_count(filter_.config().stale);
      }
      return;
    case Column::pending:
      if (table_.follower_) {
        set_count(filter_.log_size());
      }
      return;
    case Column::lookups:
      return set_count(filter_.counts().lookups);
    case Column::absent:
      return set_count(filter_.counts().absent);
    case Column::chunks_read:
      return set_count(filter_.chunks_read());
    case Column::command:
      return;
  }
}

}  // namespace bloom
