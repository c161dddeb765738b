// The members of a bloom_groups table, in a shadow table:
//
// <name>_members(slot INTEGER PRIMARY KEY, member UNIQUE, cleared)
//
// The filter of a member is bit slot % 64 of segment slot / 64 (core/filter/bit_sliced.h). A slot
// whose member is NULL is free. Its bits are 0 if `cleared` is 1, and may be set otherwise.
//
// Members are compared as SQLite compares values under the collation BINARY. Functions throw as
// those of GroupStore do.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/filter/bit_sliced.h"
#include "core/support/memory.h"
#include "sql/group_table/store/group_config.h"
#include "sql/sqlite/value.h"
#include "sql/vtab/shadow_tables.h"

namespace bloom {

// Returns the slot of a row of _members. Throws if no segment has it.
std::uint64_t slot_in(std::int64_t row, const GroupConfig& config);

class GroupMembers {
 public:
  static constexpr ShadowTable kTable{
      "members", "(slot INTEGER PRIMARY KEY, member UNIQUE, cleared)", "slot", "cleared"};

  // `writes`: a counter that rises with every write; append(), pack() and drop_from() leave that to
  // their callers.
  GroupMembers(ShadowTables& tables, std::uint64_t& writes) : tables_(tables), writes_(writes) {}

  std::optional<std::uint64_t> slot_of(const GroupConfig& config, const sqlite::Value& member);
  // Returns the slots of all members that SQLite may compare as equal to the value. For example,
  // the strings '1' and '01' equal the number 1 in a comparison with a column of numeric affinity.
  // May also return slots of members that are not equal.
  CountedVector<std::uint64_t> slots_equal_to(const GroupConfig& config,
                                              const sqlite::Value& value);
  // Calls f(member) with the member of the slot. Returns false if the slot is free.
  bool with_member(std::uint64_t slot, const std::function<void(const sqlite::Value&)>& f);
  bool has_member(std::uint64_t slot) {
    return with_member(slot, [](const sqlite::Value&) {});
  }
  // Throws if the slot has no row.
  void require_row(std::uint64_t slot);
  // Returns the slots with a member, in ascending order.
  CountedVector<std::uint64_t> used_slots(const GroupConfig& config);
  CountedVector<FilterSet> live_filters(const GroupConfig& config);  // of each segment
  bool has_free_slot_below(std::uint64_t end);
  std::uint64_t count();
  // Return the slot after the last one, and the slot after the last one that has a member.
  std::uint64_t end_of_slots(const GroupConfig& config);
  std::uint64_t end_of_members(const GroupConfig& config);

  // Gives the member a free slot whose bits are 0, if there is one outside of the wide
  // segments.
  std::optional<std::uint64_t> take_free_slot(const GroupConfig& config,
                                              const sqlite::Value& member);
  // Gives the member the slot after the last one, which may need a new segment.
  std::int64_t append(const sqlite::Value& member);
  void rename(std::uint64_t slot, const sqlite::Value& member);
  // Removes the member of a slot. `cleared`: the bits of the slot are 0.
  void free_slot(std::uint64_t slot, bool cleared);
  // Gives the members the slots from 0 on, in their order. Returns how many there are.
  std::uint64_t pack(const GroupConfig& config);
  void drop_from(std::uint64_t slot);
  void clear();

  // Throws if slots are missing, or are not those of the segments.
  void check(const GroupConfig& config);

 private:
  ShadowTables& tables_;
  std::uint64_t& writes_;
};

}  // namespace bloom
