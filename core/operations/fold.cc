#include "core/operations/fold.h"

#include <cassert>
#include <cmath>
#include <cstdint>

#include "core/layout/halving.h"
#include "core/operations/estimate.h"
#include "core/operations/merge.h"
#include "core/sizing/prediction.h"

namespace bloom {

unsigned times_foldable(const Header& header, const Estimate& now, double fpr) {
  if (!now.keys_known) {
    return 0;
  }
  const auto n = static_cast<std::uint64_t>(std::ceil(now.keys));
  unsigned times = 0;
  for (Shape shape = header.shape; is_halvable(shape); ++times) {
    shape = halved(shape);
    if (predicted_fpr(shape, n) > fpr) {
      break;
    }
  }
  return times;
}

Header folded(const Header& header, unsigned times, double fpr) {
  assert(times <= times_halvable(header.shape));
  Header result = header;
  for (unsigned i = 0; i < times; ++i) {
    result = halved(result);
  }
  if (times > 0 && header.capacity != 0 && fpr >= header.fpr) {
    result.capacity = largest_capacity(result.shape, fpr);
    result.fpr = fpr;
  }
  return result;
}

Filter fold(const FilterView& f, double fpr, const InterruptCheck& check_interrupt) {
  const unsigned times = times_foldable(f.header(), estimate(f, check_interrupt), fpr);
  Filter result(f, check_interrupt);
  for (unsigned i = 0; i < times; ++i) {
    result = halve(result.view(), check_interrupt);
  }
  const Header header = folded(f.header(), times, fpr);
  result.set_target(header.capacity, header.fpr);
  return result;
}

}  // namespace bloom
