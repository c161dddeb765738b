#include "sql/vtab/write_history.h"

#include <algorithm>

namespace bloom {

void WriteHistory::begin() {
  at_begin_ = writes_;
  savepoint_count_ = 0;
}

// SQLite does not report savepoints that were open when the table joined the transaction.
void WriteHistory::savepoint(int number) {
  const auto place = static_cast<std::size_t>(number);
  while (savepoint_count_ < std::min(place, kSavepoints)) {
    at_savepoint_[savepoint_count_++] = at_begin_;
  }
  if (place < kSavepoints) {
    at_savepoint_[place] = writes_;
    savepoint_count_ = place + 1;
  }
}

// -1: a savepoint that began the transaction.
void WriteHistory::rolled_back_to(int number) {
  if (number < 0) {
    return rolled_back();
  }
  const std::size_t place = std::min(static_cast<std::size_t>(number), kSavepoints - 1);
  undo_after(place < savepoint_count_ ? at_savepoint_[place] : at_begin_);
  savepoint(number);  // it stays open
}

void WriteHistory::rolled_back() {
  undo_after(at_begin_);
  begin();
}

void WriteHistory::undo_after(std::uint64_t kept) {
  while (undone_count_ != 0 && undone_[undone_count_ - 1].kept >= kept) {
    --undone_count_;
  }
  ++rollbacks_;
  if (undone_count_ != 0 && undone_[undone_count_ - 1].number > rollbacks_at_last_moment_) {
    undone_[undone_count_ - 1].number = rollbacks_;
    return;
  }
  if (undone_count_ == kRollbacks) {  // two by two: as if both had undone what either has
    undone_count_ = kRollbacks / 2;
    for (std::size_t i = 0; i < undone_count_; ++i) {
      undone_[i] = {undone_[2 * i + 1].number, undone_[2 * i].kept};
    }
  }
  undone_[undone_count_++] = {rollbacks_, kept};
}

bool WriteHistory::is_undone(const Moment& moment) const {
  const auto* const end = undone_.data() + undone_count_;
  const auto* const next = std::partition_point(
      undone_.data(), end, [&](const Rollback& each) { return each.number <= moment.rollbacks; });
  return next != end && next->kept < moment.writes;
}

}  // namespace bloom
