#include "sql/vtab/write_history.h"

#include <algorithm>
#include <cstddef>

namespace bloom {

void WriteHistory::begin() {
  at_begin_ = writes_;
  at_savepoints_.clear();
}

// SQLite does not report savepoints that were open when the table joined the transaction.
void WriteHistory::savepoint(int number) {
  at_savepoints_.resize(static_cast<std::size_t>(number), at_begin_);
  at_savepoints_.push_back(writes_);
}

void WriteHistory::released(int number) {
  at_savepoints_.resize(std::min(at_savepoints_.size(), static_cast<std::size_t>(number)));
}

// -1: a savepoint that began the transaction.
void WriteHistory::rolled_back_to(int number) {
  const bool is_known = number >= 0 && static_cast<std::size_t>(number) < at_savepoints_.size();
  undo_after(is_known ? at_savepoints_[static_cast<std::size_t>(number)] : at_begin_);
  if (number < 0) {
    begin();
  } else {
    savepoint(number);  // it stays open
  }
}

void WriteHistory::rolled_back() {
  undo_after(at_begin_);
  begin();
}

void WriteHistory::undo_after(std::uint64_t kept) {
  constexpr std::size_t kMost = 64;
  while (!undone_.empty() && undone_.back().kept >= kept) {
    undone_.pop_back();
  }
  undone_.push_back({++rollbacks_, kept});
  if (undone_.size() > kMost) {  // two by two: as if both had undone what either has
    for (std::size_t i = 0; i < kMost / 2; ++i) {
      undone_[i] = {undone_[2 * i + 1].number, undone_[2 * i].kept};
    }
    undone_.erase(undone_.begin() + kMost / 2, undone_.begin() + kMost);
  }
}

bool WriteHistory::is_undone(const Moment& moment) const {
  const auto next = std::partition_point(undone_.begin(), undone_.end(), [&](const Rollback& each) {
    return each.number <= moment.rollbacks;
  });
  return next != undone_.end() && next->kept < moment.writes;
}

}  // namespace bloom
