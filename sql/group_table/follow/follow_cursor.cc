// The lookups of a bloom_groups table that follows a source: see GroupSourceFollower.
#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "core/support/error.h"
#include "sql/group_table/group_table.h"
#include "sql/values/results.h"

namespace bloom {

// Filters of another collation lack keys that this table calls equal.
void GroupTable::Cursor::require_collation() const {
  const Collation own = config_.header.shape.collation;
  if (own != table_.options_.collation()) {
    fail("the column of the source has the collation " +
         std::string(name_of(table_.options_.collation())) + " now, and the filters have " +
         std::string(name_of(own)) + " (drop the table and make it again)");
  }
}

// SQLite checks a condition on the member itself, so the members may be too many.
void GroupTable::Cursor::find_members(const Values& values) {
  GroupSourceFollower& follower = *table_.follower_;
  const auto problem = follower.out_of_sync(config_);
  if (problem && !table_.options_.answers_maybe_if_stale()) {
    fail(*problem);
  }
  if (problem) {
    follower.require_same_columns();
  }
  require_collation();
  const bool looks_up = looks_up_a_key(plan_);
  std::vector<Hash> hashes;
  if (looks_up) {
    key_.assign(values[0], table_.encoding_.is_utf8());
    const Key key(values[0]);
    if (key.is_null()) {
      return;
    }
    hashes = follower.hashes_of(key, values[0], config_, key_);
    const bool is_number_as_text = key.is_number() && key_.type() == SQLITE_TEXT;
    const Shape& shape = config_.header.shape;
    hash_ = is_number_as_text ? hash_key(key_.text(), shape.collation, shape.seed) : hashes.front();
  }
  std::unordered_set<std::string> added;
  const auto add = [&](const Value& member) {
    if (added.insert(member_bytes(member)).second) {
      members_.push_back(member.copy());
    }
  };
  const bool has_member = plan_ == GroupPlan::member || plan_ == GroupPlan::key_of_member;
  const Value member = values.size() == 0 ? Value(nullptr) : values[looks_up && has_member ? 1 : 0];
  bool is_complete = !problem;
  if (!problem) {
    const GroupChangeLog& change_log = follower.read_change_log(config_);
    is_complete = change_log.is_complete();
    for (const Hash hash : hashes) {
      change_log.for_each_member_with(hash, add);
    }
    if (!looks_up && has_member) {
      change_log.for_each_member_equal_to(member, add);
    } else if (!looks_up || !is_complete) {
      change_log.for_each_member(add);
    }
  }
  const CountedVector<std::uint64_t> slots =
      is_complete ? find_slots(hashes, has_member ? &member : nullptr)
                  : table_.store_.members().used_slots(config_);
  for (const std::uint64_t slot : slots) {
    table_.store_.members().with_member(slot, add);
  }
  if (!is_complete && !follower.for_each_source_member(config_, add)) {
    fail(problem.value_or("the source is missing"));
  }
}

// Returns the slots of the members that may contain one of the keys, and those that may equal
// `member` if it is given.
CountedVector<std::uint64_t> GroupTable::Cursor::find_slots(const std::vector<Hash>& hashes,
                                                            const Value* member) {
  CountedVector<std::uint64_t> slots;
  if (member == nullptr && hashes.empty()) {
    return table_.store_.members().used_slots(config_);
  }
  if (member == nullptr) {
    for (const Hash hash : hashes) {
      look_up(hash, slots);
    }
    std::sort(slots.begin(), slots.end());
    slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
    return slots;
  }
  slots = table_.store_.members().slots_equal_to(config_, *member);
  std::erase_if(slots, [&](std::uint64_t slot) {
    return !hashes.empty() && std::none_of(hashes.begin(), hashes.end(), [&](Hash hash) {
      return table_.store_.segments().may_contain(config_, slot, hash);
    });
  });
  return slots;
}

// Merging the filter elsewhere must not lose a key, so it has those of the change log.
void GroupTable::Cursor::return_filter_with_change_log(Context& context) {
  GroupSourceFollower& follower = *table_.follower_;
  const GroupConfig now = table_.store_.load_config();
  require_binary_parts(now.parts);
  follower.require_in_sync(now);
  const GroupChangeLog& change_log = follower.read_change_log(now);
  if (!change_log.is_complete()) {
    fail(
        "an UPDATE of the source was announced, but its key was not recorded (run the command "
        "'merge', which then reads the source)");
  }
  const sqlite::OwnedValue copy = member().copy();
  const auto slot = table_.store_.members().slot_of(now, Value(copy.get()));
  Filter filter = slot ? table_.store_.segments().filter_of(now, *slot) : Filter(now.header);
  change_log.for_each_key_of(member(), [&](Hash hash) { filter.add(hash); });
  return_filter(context, std::move(filter));
}

}  // namespace bloom
