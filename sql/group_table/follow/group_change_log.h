// The change log of a bloom_groups table that follows a source (sql/source/change_log.h). key1 is
// the member, and the other columns are the key. Of a removed row, the log has only the member.
//
// The added keys are kept in memory, in the order of the log, at about 32 bytes per key. So a
// rollback removes exactly the keys that it has undone, and a lookup reads only new rows.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/hashing/hash.h"
#include "core/support/memory.h"
#include "sql/source/change_log.h"
#include "sql/source/source_key.h"
#include "sql/sqlite/value.h"

namespace bloom {

// Returns bytes that are equal for two members exactly if they are equal under BINARY. Reads a
// copy, because Value::stored_text() would mark the value itself as a blob.
std::string member_bytes(const sqlite::Value& member);

class GroupChangeLog : public ChangeLog {
 public:
  using ChangeLog::ChangeLog;

  // Reads the rows that are new since the last call. `form`: of the keys.
  void read(const KeyForm& form);
  // The next functions are about the rows that read() has read.
  //
  // Returns false if a row of the source may have a key that the log does not have: an UPDATE was
  // announced, and is not finished.
  bool is_complete() const { return !knows_announcement(); }
  using EachMember = std::function<void(const sqlite::Value& member)>;
  // Calls f(member) for each member with this key. A member can come several times.
  void for_each_member_with(Hash hash, const EachMember& f) const;
  // Calls f(member) for each member.
  void for_each_member(const EachMember& f) const;
  // Calls f(member) for each member that SQLite may call equal to `value`, and perhaps for others.
  // A member can come twice.
  void for_each_member_equal_to(const sqlite::Value& value, const EachMember& f) const;
  // Calls f(hash) for each key of a member.
  void for_each_key_of(const sqlite::Value& member, const std::function<void(Hash)>& f) const;
  bool may_contain(const sqlite::Value& member, Hash hash) const;

  // The next functions run SQL.
  //
  // Returns the id of the last row; 0 if there is none.
  std::int64_t last_id() const;
  // Returns the number of rows without void announcements; size() is an upper bound.
  std::uint64_t count() const;

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Pair {
    Hash hash;
    std::uint32_t member;  // in members_
    std::uint32_t before;  // the pair before in the same bucket, or kNone
  };
  struct Member {
    sqlite::OwnedValue value;
    double number;       // what it is as a number; NaN if it is never compared as one
    std::uint64_t keys;  // pairs with this member
  };

  void add_key(const sqlite::Execution& row, int first) override;
  std::uint64_t keys_read() const override { return pairs_.size(); }
  bool keep_keys(std::uint64_t n) override;
  void forget_keys() override;

  std::uint32_t number_of(const sqlite::Value& member);
  std::size_t bucket_of(Hash hash) const { return static_cast<std::size_t>(hash.h1) & mask_; }
  void push(Hash hash, std::uint32_t member);
  void grow();

  KeyForm form_;
  CountedVector<Pair> pairs_;            // in the order of the log
  CountedVector<std::uint32_t> newest_;  // of each bucket
  std::size_t mask_ = 0;                 // number of buckets - 1
  std::vector<Member> members_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // of members_, by member_bytes()
};

}  // namespace bloom
