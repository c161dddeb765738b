// Which writes of a table rollbacks have undone, for cursors that go on after a rollback. SQLite
// lets readers go on unless the schema has changed.
//
// Counts the writes, and remembers how many there were when each savepoint opened. A rollback
// undoes all later ones.
#pragma once

#include <cstdint>
#include <vector>

namespace bloom {

class WriteHistory {
 public:
  // When a cursor has read rows of the table.
  struct Moment {
    std::uint64_t writes = 0;
    std::uint64_t rollbacks = 0;
  };

  void note_write() { ++writes_; }

  // The calls of SQLite, and xCreate as begin().
  void begin();
  void savepoint(int number);
  void released(int number);
  void rolled_back_to(int number);
  void rolled_back();

  Moment now() const { return {writes_, rollbacks_}; }
  // Returns whether a rollback since the moment may have undone a write from before it. Never
  // returns false for one that has.
  bool is_undone(const Moment& moment) const;

 private:
  struct Rollback {
    std::uint64_t number;
    std::uint64_t kept;  // the first writes, which it did not undo
  };
  void undo_after(std::uint64_t kept);

  std::uint64_t writes_ = 0;
  std::uint64_t rollbacks_ = 0;
  std::uint64_t at_begin_ = 0;                // writes_ when the transaction began
  std::vector<std::uint64_t> at_savepoints_;  // writes_ when each savepoint opened, by its number
  // Those that kept fewer writes than every later one, in ascending order of both members.
  std::vector<Rollback> undone_;
};

}  // namespace bloom
