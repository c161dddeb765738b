// Runs statements on bloom tables. tests/fuzz/world.h generates them from the bytes.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/input.h"
#include "tests/fuzz/world.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  constexpr int kMostSteps = 50;
  bloom::fuzz::Input input(bytes, size);
  bloom::fuzz::World world;
  for (int i = 0; i < kMostSteps && !input.at_end(); ++i) {
    world.step(input);
  }
  world.check();
  return 0;
}
