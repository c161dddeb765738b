#include "sql/group_table/store/group_members.h"

#include <limits>
#include <string>

#include "sql/sqlite/statement.h"
#include "sql/vtab/damage.h"

namespace bloom {
namespace {

using sqlite::Execution;
using sqlite::Statement;
using sqlite::Value;

constexpr char kMemberOfSlot[] = "SELECT member FROM {members} WHERE slot = ?1";
constexpr char kLastSlot[] = "SELECT slot FROM {members} ORDER BY slot DESC LIMIT 1";

CountedVector<std::uint64_t> slots_in(Execution& run, const GroupConfig& config) {
  CountedVector<std::uint64_t> slots;
  while (run.step()) {
    slots.push_back(slot_in(run.integer(0), config));
  }
  return slots;
}

std::uint64_t end_after(Execution&& last, const GroupConfig& config) {
  return last.step() ? slot_in(last.integer(0), config) + 1 : 0;
}

}  // namespace

std::uint64_t slot_in(std::int64_t row, const GroupConfig& config) {
  const auto slot = static_cast<std::uint64_t>(row);
  if (slot / kSegmentFilters >= config.segments) {
    throw_damaged("slot " + std::to_string(row) + " belongs to no segment");
  }
  return slot;
}

std::optional<std::uint64_t> GroupMembers::slot_of(const GroupConfig& config, const Value& member) {
  Execution run(tables_.prepared("SELECT slot FROM {members} WHERE member = ?1"));
  return run.bind(1, member).step() ? std::optional(slot_in(run.integer(0), config)) : std::nullopt;
}

CountedVector<std::uint64_t> GroupMembers::slots_equal_to(const GroupConfig& config,
                                                          const Value& value) {
  Execution run(
      tables_.prepared("SELECT slot FROM {members} WHERE member IN (?1, CAST(?1 AS TEXT), "
                       "CAST(CAST(?1 AS INTEGER) AS TEXT), CAST(?1 AS NUMERIC))"));
  CountedVector<std::uint64_t> slots = slots_in(run.bind(1, value), config);
  if (value.type() == SQLITE_INTEGER || value.type() == SQLITE_FLOAT) {
    // Strings such as '01' begin with a space, a sign, a point or a digit.
    Execution strings(tables_.prepared(
        "SELECT slot FROM {members} WHERE member >= char(9) AND member < ':' AND "
        "CAST(member AS REAL) = CAST(?1 AS REAL) AND member NOT IN (CAST(?1 AS TEXT), "
        "CAST(CAST(?1 AS INTEGER) AS TEXT))"));
    const CountedVector<std::uint64_t> others = slots_in(strings.bind(1, value), config);
    slots.insert(slots.end(), others.begin(), others.end());
  }
  return slots;
}

bool GroupMembers::with_member(std::uint64_t slot, const std::function<void(const Value&)>& f) {
  Execution run(tables_.prepared(kMemberOfSlot));
  if (!run.bind(1, as_integer(slot)).step() || run.type(0) == SQLITE_NULL) {
    return false;
  }
  f(run.value(0));
  return true;
}

void GroupMembers::require_row(std::uint64_t slot) {
  Execution run(tables_.prepared(kMemberOfSlot));
  if (!run.bind(1, as_integer(slot)).step()) {
    throw_damaged("the member of slot " + std::to_string(slot) + " is missing");
  }
}

CountedVector<std::uint64_t> GroupMembers::used_slots(const GroupConfig& config) {
  const Statement select =
      tables_.statement("SELECT slot FROM {members} WHERE member IS NOT NULL ORDER BY slot");
  Execution run(select);
  return slots_in(run, config);
}

bool GroupMembers::has_free_slot_below(std::uint64_t end) {
  Execution run(tables_.prepared(
      "SELECT 1 FROM {members} WHERE member IS NULL AND slot >= 0 AND slot < ?1 LIMIT 1"));
  return run.bind(1, as_integer(end)).step();
}

CountedVector<FilterSet> GroupMembers::live_filters(const GroupConfig& config) {
  CountedVector<FilterSet> live(as_size(config.segments), 0);
  for (const std::uint64_t slot : used_slots(config)) {
    live[as_size(slot / kSegmentFilters)] |= FilterSet{1} << slot % kSegmentFilters;
  }
  return live;
}

std::uint64_t GroupMembers::count() {
  const Statement count = tables_.statement("SELECT 1 FROM {members} WHERE member IS NOT NULL");
  return Execution(count).count_rows();
}

std::uint64_t GroupMembers::end_of_slots(const GroupConfig& config) {
  return end_after(Execution(tables_.prepared(kLastSlot)), config);
}

std::uint64_t GroupMembers::end_of_members(const GroupConfig& config) {
  const Statement last = tables_.statement(
      "SELECT slot FROM {members} WHERE member IS NOT NULL ORDER BY slot DESC LIMIT 1");
  return end_after(Execution(last), config);
}

std::optional<std::uint64_t> GroupMembers::take_free_slot(const GroupConfig& config,
                                                          const Value& member) {
  std::uint64_t slot = 0;
  {
    Execution run(
        tables_.prepared("SELECT slot FROM {members} WHERE member IS NULL AND slot >= ?1 AND "
                         "cleared = 1 ORDER BY slot LIMIT 1"));
    if (!run.bind(1, as_integer(config.wide_segments * kSegmentFilters)).step()) {
      return std::nullopt;
    }
    slot = slot_in(run.integer(0), config);
  }
  rename(slot, member);
  return slot;
}

void GroupMembers::rename(std::uint64_t slot, const Value& member) {
  ++writes_;
  const Statement& update =
      tables_.prepared("UPDATE {members} SET member = ?2, cleared = NULL WHERE slot = ?1");
  Execution(update).bind(1, as_integer(slot)).bind(2, member).step();
}

void GroupMembers::free_slot(std::uint64_t slot, bool cleared) {
  ++writes_;
  const Statement& update =
      tables_.prepared("UPDATE {members} SET member = NULL, cleared = ?2 WHERE slot = ?1");
  Execution(update).bind(1, as_integer(slot)).bind(2, std::int64_t{cleared ? 1 : 0}).step();
}

std::int64_t GroupMembers::append(const Value& member) {
  std::int64_t slot = 0;
  {
    Execution last(tables_.prepared(kLastSlot));
    if (last.step()) {
      slot = last.integer(0);
      if (slot == std::numeric_limits<std::int64_t>::max()) {
        throw_damaged("there is no slot after the last one");
      }
      ++slot;
    }
  }
  Execution(tables_.prepared("INSERT INTO {members} VALUES (?1, ?2, NULL)"))
      .bind(1, slot)
      .bind(2, member)
      .step();
  return slot;
}

std::uint64_t GroupMembers::pack(const GroupConfig& config) {
  const auto slots = used_slots(config);
  tables_.run("DELETE FROM {members} WHERE member IS NULL");
  const Statement move = tables_.statement("UPDATE {members} SET slot = ?2 WHERE slot = ?1");
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] != i) {
      Execution(move).bind(1, as_integer(slots[i])).bind(2, static_cast<std::int64_t>(i)).step();
    }
  }
  return slots.size();
}

void GroupMembers::drop_from(std::uint64_t slot) {
  const Statement erase = tables_.statement("DELETE FROM {members} WHERE slot >= ?1");
  Execution(erase).bind(1, as_integer(slot)).step();
}

void GroupMembers::clear() {
  ++writes_;
  tables_.run("DELETE FROM {members}");
}

void GroupMembers::check(const GroupConfig& config) {
  const Statement select = tables_.statement("SELECT slot FROM {members} ORDER BY slot");
  Execution run(select);
  std::uint64_t slots = 0;
  bool in_order = true;
  for (; run.step(); ++slots) {
    in_order = in_order && run.integer(0) == as_integer(slots);
  }
  const std::uint64_t wanted = (slots + kSegmentFilters - 1) / kSegmentFilters;
  if (config.segments != wanted) {
    throw_damaged("there are " + std::to_string(config.segments) + " segments instead of " +
                  std::to_string(wanted));
  }
  if (!in_order) {
    throw_damaged("the slots are not numbered from 0 on");
  }
}

}  // namespace bloom
