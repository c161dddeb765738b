// How long loops are stopped: now and then they call a function that may throw. It goes through
// them as an argument, so that no two threads and no two callers share one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace bloom {

// What a loop calls between pieces of work, which take from 10 us to 50 ms. Nothing, unless said.
class Pause {
 public:
  using Function = void (*)(void* context);

  Pause() = default;
  Pause(Function function, void* context) : function_(function), context_(context) {}

  void operator()() const {
    if (function_ != nullptr) {
      function_(context_);
    }
  }

 private:
  Function function_ = nullptr;
  void* context_ = nullptr;
};

// Pauses once in so many steps of a loop.
class Steps {
 public:
  explicit Steps(const Pause& pause) : pause_(pause) {}
  void next() {
    if (--left_ == 0) {
      pause_();
      left_ = kSteps;
    }
  }

 private:
  static constexpr unsigned kSteps = 1 << 12;

  const Pause& pause_;
  unsigned left_ = kSteps;
};

// 64 KiB: with blocks of one cell each they take as long as one can wait.
inline constexpr std::uint64_t kSliceBytes = std::uint64_t{1} << 16;
inline constexpr std::uint64_t kSliceBits = 8 * kSliceBytes;

// Calls f(first, n) for parts first..first+n-1 of 0..count-1, each of at most `slice`, with a pause
// between them.
template <typename Count, typename F>
void for_each_slice(Count count, std::type_identity_t<Count> slice, const Pause& pause, F&& f) {
  for (Count first = 0; first < count; first += slice) {
    if (first != 0) {
      pause();
    }
    f(first, std::min(slice, count - first));
  }
}

}  // namespace bloom
