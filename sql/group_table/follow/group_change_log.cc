#include "sql/group_table/follow/group_change_log.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sql/values/key.h"

namespace bloom {

using sqlite::Execution;
using sqlite::OwnedValue;
using sqlite::Statement;
using sqlite::Value;

namespace {

// Returns the number that a value is or begins with, or NaN. If one side of a comparison is a
// number, SQLite may convert a text on the other.
double leading_number(const Value& value) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (value.type() == SQLITE_TEXT) {
    const OwnedValue copy = value.copy();
    const std::string_view text = Value(copy.get()).text();
    return text.find_first_of("\t\n\v\f\r +-.0123456789") == 0 ? value.real() : kNone;
  }
  return value.type() == SQLITE_BLOB ? kNone : value.real();
}

// A number that is compared as a text has 15 digits, or is 'Inf'.
bool may_be_equal(double member, double value) {
  constexpr double kPrecision = 1e-14;
  return std::isinf(value) || std::abs(member - value) <= kPrecision * std::abs(value);
}

}  // namespace

// SQLite compares 1 and 1.0 as equal, and a number never equals a text.
std::string member_bytes(const Value& member) {
  const OwnedValue copy = member.copy();
  const Key key(Value(copy.get()), /*as_stored=*/true);
  const bool is_number = member.type() == SQLITE_INTEGER || member.type() == SQLITE_FLOAT;
  std::string bytes(1, static_cast<char>('0' + (is_number ? SQLITE_INTEGER : member.type())));
  return bytes.append(key.bytes());
}

void GroupChangeLog::read(const KeyForm& form) {
  if (form.parts != form_.parts || form.shape.seed != form_.shape.seed ||
      form.shape.collation != form_.shape.collation) {
    forget();
  }
  form_ = form;
  expire();
  read_new_rows();
}

void GroupChangeLog::add_key(const Execution& row, int first) {
  const Value member = row.value(first);
  const SourceKey key = key_of_row(row, first + 1, form_);
  if (member.is_null() || !key.hash) {
    return;
  }
  const std::uint32_t number = number_of(member);
  KeyHashes(form_.shape).for_each_hash(key, [&](Hash hash) { push(hash, number); });
}

std::uint32_t GroupChangeLog::number_of(const Value& member) {
  std::string bytes = member_bytes(member);
  if (const auto found = numbers_.find(bytes); found != numbers_.end()) {
    return found->second;
  }
  // A number without a member would be given to the next one as well.
  members_.push_back({member.copy(), leading_number(member), 0});
  const auto number = static_cast<std::uint32_t>(members_.size() - 1);
  numbers_.emplace(std::move(bytes), number);
  return number;
}

// Skips a pair that is among the newest of its bucket: rows may repeat one key many times. A
// rollback that removes the first of equal rows removes the others as well.
void GroupChangeLog::push(Hash hash, std::uint32_t member) {
  constexpr int kCompared = 4;
  std::uint32_t i = newest_.empty() ? kNone : newest_[bucket_of(hash)];
  for (int n = 0; n < kCompared && i != kNone; ++n, i = pairs_[i].before) {
    if (pairs_[i].member == member && pairs_[i].hash == hash) {
      return;
    }
  }
  if (pairs_.size() == newest_.size()) {
    grow();
  }
  std::uint32_t& newest = newest_[bucket_of(hash)];
  pairs_.push_back({hash, member, newest});
  newest = static_cast<std::uint32_t>(pairs_.size() - 1);
  ++members_[member].keys;
}

void GroupChangeLog::grow() {
  constexpr std::size_t kFirst = 1024;
  newest_.assign(std::max(kFirst, 2 * newest_.size()), kNone);
  mask_ = newest_.size() - 1;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    pairs_[i].before =
        std::exchange(newest_[bucket_of(pairs_[i].hash)], static_cast<std::uint32_t>(i));
  }
}

bool GroupChangeLog::keep_keys(std::uint64_t n) {
  while (pairs_.size() > n) {
    const Pair& last = pairs_.back();
    newest_[bucket_of(last.hash)] = last.before;
    --members_[last.member].keys;
    pairs_.pop_back();
  }
  return true;
}

void GroupChangeLog::forget_keys() {
  pairs_ = {};
  newest_ = {};
  members_.clear();
  numbers_.clear();
}

void GroupChangeLog::for_each_member_with(Hash hash, const EachMember& f) const {
  for (std::uint32_t i = newest_.empty() ? kNone : newest_[bucket_of(hash)]; i != kNone;
       i = pairs_[i].before) {
    if (pairs_[i].hash == hash) {
      f(Value(members_[pairs_[i].member].value.get()));
    }
  }
}

void GroupChangeLog::for_each_member(const EachMember& f) const {
  for (const Member& member : members_) {
    if (member.keys != 0) {
      f(Value(member.value.get()));
    }
  }
}

void GroupChangeLog::for_each_member_equal_to(const Value& value, const EachMember& f) const {
  const auto pass = [&](const Member& member) {
    if (member.keys != 0) {
      f(Value(member.value.get()));
    }
  };
  if (const auto found = numbers_.find(member_bytes(value)); found != numbers_.end()) {
    pass(members_[found->second]);
  }
  const double number = leading_number(value);
  for (const Member& member : members_) {
    if (may_be_equal(member.number, number)) {
      pass(member);
    }
  }
}

void GroupChangeLog::for_each_key_of(const Value& member,
                                     const std::function<void(Hash)>& f) const {
  const auto found = numbers_.find(member_bytes(member));
  for (const Pair& pair : pairs_) {
    if (found != numbers_.end() && pair.member == found->second) {
      f(pair.hash);
    }
  }
}

bool GroupChangeLog::may_contain(const Value& member, Hash hash) const {
  const std::string wanted = member_bytes(member);
  bool found = false;
  for_each_member_with(hash,
                       [&](const Value& other) { found = found || member_bytes(other) == wanted; });
  return found;
}

std::int64_t GroupChangeLog::last_id() const {
  const Statement select(db(), "SELECT id FROM " + qualified() + " ORDER BY id DESC LIMIT 1",
                         find_damage());
  Execution run(select);
  return run.step() ? run.integer(0) : 0;
}

std::uint64_t GroupChangeLog::count() const {
  const Statement select(
      db(), "SELECT 1 FROM " + qualified() + " WHERE added <> " + std::to_string(ChangeLog::kVoid),
      find_damage());
  return Execution(select).count_rows();
}

}  // namespace bloom
