// Statements on bloom tables, as tests/fuzz/world.h makes them of the bytes.
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
