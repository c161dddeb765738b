// Remembers which writes to a table were undone by a rollback. Cursors need that, because SQLite
// lets readers go on after a rollback unless the schema has changed.
//
// Counts the writes, and remembers how many there were when each savepoint opened. A rollback
// undoes all later ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace bloom {

class WriteHistory {
 public:
  // When a cursor has read rows of the table.
  struct Moment {
    std::uint64_t writes = 0;
    std::uint64_t rollbacks = 0;
  };

  void note_write() { ++writes_; }

  // The calls of SQLite, and xCreate as begin(). A release needs none: the next savepoint of the
  // number replaces the one before. A rollback must not fail, so none allocates memory.
  void begin();
  void savepoint(int number);
  void rolled_back_to(int number);
  void rolled_back();

  Moment now() {
    rollbacks_at_last_moment_ = rollbacks_;
    return {writes_, rollbacks_};
  }
  // Returns whether a rollback since the moment has undone a write from before it. True as well if
  // there were too many rollbacks or savepoints to tell.
  bool is_undone(const Moment& moment) const;

 private:
  struct Rollback {
    std::uint64_t number;
    std::uint64_t kept;  // how many of the first writes it left in place
  };
  void undo_after(std::uint64_t kept);

  static constexpr std::size_t kSavepoints = 32;  // deeper ones count as the last of these
  static constexpr std::size_t kRollbacks = 32;

  std::uint64_t writes_ = 0;
  std::uint64_t rollbacks_ = 0;
  std::uint64_t rollbacks_at_last_moment_ = 0;
  std::uint64_t at_begin_ = 0;  // writes_ when the transaction began
  // writes_ when each savepoint opened, by its number. `savepoint_count_` of them are known.
  std::array<std::uint64_t, kSavepoints> at_savepoint_{};
  std::size_t savepoint_count_ = 0;
  // The first `undone_count_` entries are in use, in ascending order of both members. A rollback
  // has no entry if a later one kept as few writes or fewer. Rollbacks between two calls of now()
  // share one.
  std::array<Rollback, kRollbacks> undone_{};
  std::size_t undone_count_ = 0;
};

}  // namespace bloom
