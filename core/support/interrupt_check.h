// Interruption of long loops. A loop calls an interrupt check at intervals, and the check may throw
// to stop the loop. The check is passed as an argument, so that threads and callers do not share
// one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace bloom {

// The function that a loop calls between pieces of work of 10 us to 50 ms. By default it does
// nothing.
class InterruptCheck {
 public:
  using Function = void (*)(void* context);

  InterruptCheck() = default;
  InterruptCheck(Function function, void* context) : function_(function), context_(context) {}

  void operator()() const {
    if (function_ != nullptr) {
      function_(context_);
    }
  }

 private:
  Function function_ = nullptr;
  void* context_ = nullptr;
};

// Calls the interrupt check once every kSteps steps of a loop.
class PeriodicCheck {
 public:
  explicit PeriodicCheck(const InterruptCheck& check_interrupt)
      : check_interrupt_(check_interrupt) {}
  void step() {
    if (--left_ == 0) {
      check_interrupt_();
      left_ = kSteps;
    }
  }

 private:
  static constexpr unsigned kSteps = 1 << 12;

  const InterruptCheck& check_interrupt_;
  unsigned left_ = kSteps;
};

// The size of a piece of a loop over cells: 64 KiB. In the worst case (blocks of one cell each)
// such a piece takes 50 ms.
inline constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 16;
inline constexpr std::uint64_t kPieceBits = 8 * kPieceBytes;

// Splits 0..count-1 into consecutive pieces of at most `size` elements. Calls f(first, n) for each
// piece first..first+n-1, and check_interrupt() between two pieces.
template <typename Count, typename F>
void for_each_piece(Count count, std::type_identity_t<Count> size,
                    const InterruptCheck& check_interrupt, F&& f) {
  for (Count first = 0; first < count; first += size) {
    if (first != 0) {
      check_interrupt();
    }
    f(first, std::min(size, count - first));
  }
}

}  // namespace bloom
