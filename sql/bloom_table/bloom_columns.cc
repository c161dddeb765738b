// The columns of the rows of a bloom table.
#include <string>
#include <vector>

#include "core/operations/totals.h"
#include "core/support/error.h"
#include "sql/bloom_table/bloom_table.h"
#include "sql/sqlite/context.h"
#include "sql/values/arguments.h"
#include "sql/values/info_json.h"
#include "sql/values/results.h"

namespace bloom {
namespace {

constexpr std::string_view kReadTable = "look keys up in the table itself, or halve it";

}  // namespace

void BloomTable::Cursor::set_part(sqlite3_context* raw, std::size_t part) const {
  if (plan_ != BloomPlan::lookup_parts && plan_ != BloomPlan::lookup_parts_collated) {
    fail("a lookup by key cannot read the columns of the key (look it up by them: " +
         table_.parts_.condition() + ")");
  }
  parts_[part].value.set_result(raw);
}

// Never returns 0 if there may be a key: `x IN (SELECT key FROM seen)` must fail then, rather than
// find nothing.
std::uint64_t BloomTable::Cursor::count_keys() {
  const auto is_empty = [](const Estimate& estimate) { return estimate.fill == 0; };
  const std::uint64_t pending = filter_.change_log_size();
  if (pending == 0 && std::all_of(estimates().begin(), estimates().end(), is_empty)) {
    return 0;
  }
  const auto keys = rounded_keys(total_estimate(filter_.layers().headers(), estimates()));
  if (!keys) {
    fail(
        "the filter is too full to estimate its number of keys (the column overfull is 1; make a "
        "larger table, or run 'rebuild' if it has a source)");
  }
  return std::max<std::uint64_t>(*keys, 1);
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
  const bool is_key = i == static_cast<int>(BloomColumn::key);
  if (plan_ == BloomPlan::count || (plan_ == BloomPlan::properties && is_key)) {
    refuse_scan();
  }
  const int part = table_.parts_.part_of(i);
  if (plan_ == BloomPlan::properties && part >= 0) {
    refuse_scan();
  }
  if (part >= 0) {
    return set_part(raw, static_cast<std::size_t>(part));
  }
  Context context(raw);
  if (is_key && plan_ != BloomPlan::lookup && plan_ != BloomPlan::lookup_collated) {
    return context.result_blob(std::string_view(key_of_parts_));
  }
  if (is_key) {
    return key_.set_result(raw);
  }
  set_result(hidden_columns(), i, *this, context);
}

void BloomTable::Cursor::return_filter_of_table(Context& context) {
  // With on_stale=maybe, a lookup finds its row although keys may be missing from the filter.
  require_in_sync();
  if (filter_.change_log_has_announcement()) {
    fail(
        "an UPDATE of the source was announced, but its key was not recorded (run the command "
        "'merge', which then reads the source)");
  }
  require_binary_parts(filter_.config().parts);
  table_.require_one_layer("read the filter of");
  require_within_limit(context, "the filter", stored_bytes(filter_.shape()), kReadTable);
  return_filter(context, filter_.read_filter());
}

std::vector<Header> BloomTable::Cursor::headers() { return filter_.layers().headers(); }

constexpr BloomTable::Cursor::Hidden BloomTable::Cursor::kHidden[] = {
    {BloomColumn::filter, "filter", "BLOB",
     [](Cursor& c, Context& context) { c.return_filter_of_table(context); }},
    {BloomColumn::info, "info", "TEXT",
     [](Cursor& c, Context& context) { context.result_text(c.table_.info(c.estimates())); }},
    {BloomColumn::keys, "keys", "INTEGER",
     [](Cursor& c, Context& context) {
       return_count(context, rounded_keys(total_estimate(c.headers(), c.estimates())));
     }},
    {BloomColumn::fpr, "fpr", "REAL",
     [](Cursor& c, Context& context) {
       const double added = c.filter_.change_log_fpr();
       context.result_double(fpr_of_either(total_estimate(c.headers(), c.estimates()).fpr, added));
     }},
    {BloomColumn::capacity, "capacity", "INTEGER",
     [](Cursor& c, Context& context) {
       const std::uint64_t capacity = total_capacity(c.headers());
       return_count(context, capacity == 0 ? std::nullopt : std::optional(capacity));
     }},
    {BloomColumn::bytes, "bytes", "INTEGER",
     [](Cursor& c, Context& context) { return_count(context, total_bytes(c.headers())); }},
    {BloomColumn::overfull, "overfull", "INTEGER",
     [](Cursor& c, Context& context) {
       context.result_bool(is_overfull(c.headers(), c.estimates()));
     }},
    {BloomColumn::layers, "layers", "INTEGER",
     [](Cursor& c, Context& context) { return_count(context, c.filter_.layers().size()); }},
    {BloomColumn::generations, "generations", "INTEGER",
     [](Cursor& c, Context& context) {
       if (c.filter_.has_generations()) {
         return_count(context, c.filter_.layers().size());
       }
     }},
    {BloomColumn::stale, "stale", "INTEGER",
     [](Cursor& c, Context& context) {
       if (c.table_.follower_) {
         const auto keys = rounded_keys(total_estimate(c.headers(), c.estimates()));
         return_count(context, c.table_.follower_->count_removed(c.filter_, keys));
       }
     }},
    {BloomColumn::pending, "pending", "INTEGER",
     [](Cursor& c, Context& context) {
       if (c.table_.follower_) {
         return_count(context, c.filter_.change_log_size());
       }
     }},
    {BloomColumn::lookups, "lookups", "INTEGER",
     [](Cursor& c, Context& context) { return_count(context, c.filter_.lookup_counts().lookups); }},
    {BloomColumn::absent, "absent", "INTEGER",
     [](Cursor& c, Context& context) { return_count(context, c.filter_.lookup_counts().absent); }},
    {BloomColumn::chunks_read, "chunks_read", "INTEGER",
     [](Cursor& c, Context& context) { return_count(context, c.filter_.chunks_read()); }},
};

std::span<const BloomTable::Cursor::Hidden> BloomTable::Cursor::hidden_columns() {
  static_assert(lists_all_in_order(kHidden, BloomColumn::filter, BloomColumn::command));
  return kHidden;
}

}  // namespace bloom
