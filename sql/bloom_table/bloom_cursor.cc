// The lookups of a bloom table.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/hashing/key.h"
#include "core/operations/totals.h"
#include "core/support/error.h"
#include "sql/bloom_table/bloom_table.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/context.h"
#include "sql/values/arguments.h"
#include "sql/values/info_json.h"
#include "sql/values/results.h"

namespace bloom {
namespace {

constexpr char kCannotScan[] =
    "cannot list the keys of a Bloom filter (give the key: key = ?, key IN (...), JOIN ... ON "
    "key = t.k, or EXISTS (SELECT 1 FROM ... WHERE key = t.k); the column keys says how many keys "
    "there are";

// `own`: the collation of the filter.
[[noreturn]] void refuse_collation(std::string_view collation, Collation own) {
  const std::string rule = own == Collation::binary
                               ? "BINARY, or make the table with collate=nocase or collate=rtrim"
                               : std::string(name_of(own)) + " or BINARY";
  fail("the filter cannot compare key under the collation " + std::string(collation) +
       " (compare it with COLLATE " + rule + ")");
}

// A connection declares the columns when it opens the table, and does not notice another source.
constexpr std::string_view kRebuildOrReopen =
    " (run the command 'rebuild'; after that, open the database again)";

}  // namespace

void BloomTable::Cursor::start(int plan, const char* idx_string, const Values& values) {
  filter_.prepare_lookup();
  estimates_.clear();
  plan_ = static_cast<BloomPlan>(plan % kFromLists);
  if (plan >= kFromLists && !std::exchange(lists_are_checked_, true)) {
    require_collation_of_lists();
  }
  switch (plan_) {
    case BloomPlan::lookup_collated:
      if (filter_.shape().collation != table_.options_.collation()) {
        fail("this connection reads the column 'key' with the collation " +
             std::string(name_of(table_.options_.collation())) + ", and the filter has " +
             std::string(name_of(filter_.shape().collation)) + std::string(kRebuildOrReopen));
      }
      [[fallthrough]];
    case BloomPlan::lookup:
      require_filter_operands(values, 1);
      return look_up(values[0]);
    case BloomPlan::lookup_parts:
    case BloomPlan::lookup_parts_collated:
      require_filter_operands(values, static_cast<int>(key_columns_));
      return look_up_parts(values);
    case BloomPlan::refused_parts:
      fail(idx_string);
    case BloomPlan::properties:
      require_in_sync();
      require_filter_operands(values, 0);
      rows_ = 1;
      return;
    case BloomPlan::count:
      require_in_sync();
      rows_ = count_keys();
      return;
    case BloomPlan::refused_collation:
      refuse_collation(std::string_view(idx_string).substr(kUnsupportedCollationPrefix.size()),
                       table_.options_.collation());
  }
}

void BloomTable::Cursor::require_collation_of_lists() {
  const bool by_parts = plan_ != BloomPlan::lookup && plan_ != BloomPlan::lookup_collated;
  for (std::size_t i = 0; i < (by_parts ? key_columns_ : 1); ++i) {
    const Collation own = by_parts ? table_.parts_.collations[i] : filter_.shape().collation;
    const int argument = static_cast<int>(i);
    const int column =
        by_parts ? table_.parts_.first + argument : static_cast<int>(BloomColumn::key);
    const std::string other =
        table_.list_collations_.find_other_collation(name_of(own), argument, column);
    if (!other.empty()) {
      refuse_collation(other, own);
    }
  }
}

// An UPDATE or DELETE without a key reads the keys before it would change them.
void BloomTable::Cursor::refuse_scan() const {
  if (table_.follower_ && table_.is_written_ && sqlite::running_writers(table_.db()) != 0) {
    table_.refuse_following("list the keys of a Bloom filter, nor UPDATE or DELETE rows of");
  }
  if (const PartColumns& parts = table_.parts_; !parts.names.empty()) {
    std::string join;
    for (const std::string& name : parts.names) {
      join.append(join.empty() ? "" : " AND ").append(table_.name());
      join.append(".").append(name).append(" = t.").append(name);
    }
    fail("cannot list the keys of a Bloom filter (give all columns of the key: " +
         parts.condition() + ", or JOIN ... ON " + join +
         "; the column keys says how many keys there are)");
  }
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

// Returns whether the filter can answer. If it cannot, throws; with on_stale=maybe only if rows
// that are returned could be compared by other rules.
bool BloomTable::Cursor::is_in_sync() {
  if (!table_.follower_) {
    return true;
  }
  if (table_.follower_->is_known_in_sync(filter_) && key_columns_ == 1) {
    return true;
  }
  if (!table_.options_.answers_maybe_if_stale()) {
    require_in_sync();
  } else if (table_.follower_->out_of_sync(filter_)) {
    table_.follower_->require_same_columns(filter_);
    return false;
  }
  if (key_columns_ > 1) {
    require_same_part_collations();
  }
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
           call + "), because the filter follows " + std::to_string(key_columns_) + " columns" +
               (table_.parts_.names.empty() ? "" : " (or give " + table_.parts_.condition() + ")"),
           value.describe());
  }
}

// A filter that was made with other collations lacks keys that this table calls equal.
void BloomTable::Cursor::require_same_part_collations() {
  const PartCollations& own = filter_.config().parts;
  const PartCollations& declared = table_.parts_.collations;
  if (!same_collations(own, declared)) {
    fail("this connection reads the columns of the key with the collations " + names_of(declared) +
         ", and the filter has " + (own.empty() ? "binary" : names_of(own)) +
         std::string(kRebuildOrReopen));
  }
}

Hash BloomTable::Cursor::hash_of(const Key& key) {
  return key_columns_ > 1
             ? hash_composite(key.bytes(), filter_.config().parts, filter_.shape().seed)
             : key.hash(filter_.shape());
}

void BloomTable::Cursor::look_up(const Value& value) {
  const bool in_sync = is_in_sync();
  const bool is_utf8 = table_.encoding_.is_utf8();
  if (!is_utf8) {
    key_.assign(value, /*may_convert=*/false);
  }
  // The hash reads `value`, not the copy in key_: reading bytes just after writing them is slow.
  const Key key(value);
  if (!table_.follower_) {
    refuse_filter_or_handle(key, value);
  }
  if (key_columns_ > 1) {
    require_composite(key, value);
  }
  if (is_utf8 && key.is_text()) {
    key_.assign_text(key.bytes());
  } else if (is_utf8) {
    key_.assign(value);
  }
  if (key.is_null()) {
    rows_ = 0;
    return;
  }
  const Hash hash = key_columns_ == 1 ? key.hash(filter_.shape()) : hash_of(key);
  const bool is_single = table_.follower_ && key_columns_ == 1;
  bool found =
      !in_sync || (is_single && is_utf8 ? table_.follower_->may_contain(filter_, hash, value)
                                        : filter_.may_contain(hash));
  if (is_single) {
    SourceComparison& comparison = table_.follower_->comparison();
    if (comparison.may_have_other_form(key)) {
      const SourceComparison::OtherForms forms = comparison.other_forms(key, value, key_);
      found = found || may_contain(forms);
    }
  }
  filter_.lookup_counts().count(found);
  rows_ = found ? 1 : 0;
}

void BloomTable::Cursor::look_up_parts(const Values& values) {
  const bool in_sync = is_in_sync();
  parts_.resize(key_columns_);
  packed_.clear();
  key_of_parts_.clear();
  rows_ = 0;
  bool has_null = false;
  bool has_other_form = false;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    const Value value = values[static_cast<int>(i)];
    part.value.assign(value, table_.encoding_.is_utf8());
    const Key key(value);
    SourceComparison& comparison = table_.follower_->comparison(i);
    part.other = comparison.other_forms(key, value, part.value);
    has_null = has_null || key.is_null();
    has_other_form = has_other_form || part.other.number || part.other.may_be_text;
    append_part(packed_, key.bytes());
    append_to_key_of_parts(key, part, comparison.is_numeric());
  }
  if (has_null) {
    return;
  }
  const bool found =
      !in_sync ||
      filter_.may_contain(hash_composite(packed_, filter_.config().parts, filter_.shape().seed)) ||
      (has_other_form && may_contain_other_parts());
  filter_.lookup_counts().count(found);
  rows_ = found ? 1 : 0;
}

// If terms of an OR find two rows with the same `key`, SQLite returns only one of them. So `key` is
// the composite key of the values that are returned, with marks where values of different types
// have the same bytes.
void BloomTable::Cursor::append_to_key_of_parts(const Key& key, const Part& part, bool is_numeric) {
  const int type = part.value.type();
  const bool is_number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
  append_part(key_of_parts_, key.is_number() && !is_number    ? part.value.text()
                             : part.other.number && is_number ? std::string_view(*part.other.number)
                                                              : key.bytes());
  if (type == SQLITE_BLOB || (is_number && !is_numeric)) {
    key_of_parts_.push_back(is_number ? 'n' : 'b');
  }
}

// Returns whether the filter may contain one of these forms of a key.
bool BloomTable::Cursor::may_contain(const SourceComparison::OtherForms& forms) {
  const Shape& shape = filter_.shape();
  return (forms.number &&
          filter_.may_contain(hash_key(*forms.number, shape.collation, shape.seed))) ||
         (forms.may_be_text && filter_.may_contain(noncanonical_marker(shape)));
}

// Returns whether the filter may contain a key that is equal to the values of parts_, but has other
// bytes: see SourceComparison.
bool BloomTable::Cursor::may_contain_other_parts() {
  constexpr std::size_t kMaxNumbers = 4;  // each doubles the number of keys to look up
  std::size_t numbers = 0;
  for (const Part& part : parts_) {
    numbers += part.other.number ? 1 : 0;
    const bool has_marker = !filter_.config().parts.empty();
    if (part.other.may_be_text &&
        (!has_marker || filter_.may_contain(noncanonical_marker(filter_.shape())))) {
      return true;
    }
  }
  if (numbers > kMaxNumbers) {
    return true;
  }
  for (unsigned choice = 1; choice < 1U << numbers; ++choice) {
    CountedString key;
    std::string_view rest = packed_;
    unsigned numbers_left = choice;
    for (const Part& part : parts_) {
      const std::string_view bytes = *take_part(rest);
      const bool as_number = part.other.number && (numbers_left & 1U) != 0;
      append_part(key, as_number ? *part.other.number : bytes);
      numbers_left >>= part.other.number ? 1U : 0U;
    }
    if (filter_.may_contain(hash_composite(key, filter_.config().parts, filter_.shape().seed))) {
      return true;
    }
  }
  return false;
}

}  // namespace bloom
