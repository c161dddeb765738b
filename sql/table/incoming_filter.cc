#include "sql/table/incoming_filter.h"

#include <cmath>
#include <string>

#include "core/operations/estimate.h"
#include "core/operations/merge.h"
#include "core/sizing/prediction.h"
#include "core/support/error.h"
#include "sql/values/info_json.h"

namespace bloom {
namespace {

void require_room(const Header& own, std::string_view owner, const Estimate& added) {
  if (exceeds_capacity(own, added.keys)) {
    const std::uint64_t keys = rounded_keys(added);
    const double fpr = predicted_fpr(own.shape, keys);
    fail("filter has about " + std::to_string(keys) + " keys, and " + std::string(owner) +
         " has a capacity of " + std::to_string(own.capacity) +
         ": the false-positive rate would be " + std::to_string(std::lround(100 * fpr)) +
         " % (merge it into a larger table, or INSERT bloom_halve(filter, times) nevertheless)");
  }
}

}  // namespace

Filter fit_incoming_filter(const FilterView& added, const Header& own, std::string_view owner,
                           const InterruptCheck& check_interrupt) {
  Filter fitting = resized_to_match(added, own, "filter", owner, check_interrupt);
  if (added.shape().cells > own.shape.cells) {
    require_room(own, owner, estimate(added, check_interrupt));
  }
  return fitting;
}

}  // namespace bloom
