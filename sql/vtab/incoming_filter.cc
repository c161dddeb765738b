#include "sql/vtab/incoming_filter.h"

#include <cmath>
#include <string>

#include "core/operations/estimate.h"
#include "core/operations/merge.h"
#include "core/sizing/prediction.h"
#include "core/support/error.h"
#include "sql/values/info_json.h"

namespace bloom {
namespace {

void require_room(const Header& target, std::string_view target_name, const Estimate& added) {
  if (!added.keys_known || exceeds_capacity(target, added.keys)) {
    const auto keys = static_cast<std::uint64_t>(std::llround(added.keys));
    const double fpr = predicted_fpr(target.shape, keys);
    fail(std::string(added.keys_known ? "filter has about " : "filter is full: it has at least ") +
         std::to_string(keys) + " keys, and " + std::string(target_name) + " has a capacity of " +
         std::to_string(target.capacity) + ": the false-positive rate would be " +
         std::to_string(std::lround(100 * fpr)) +
         " % (merge it into a larger table, or INSERT bloom_halve(filter, times) nevertheless)");
  }
}

}  // namespace

Filter fit_incoming_filter(const FilterView& added, const Header& target,
                           std::string_view target_name, const InterruptCheck& check_interrupt) {
  Filter fitting = resized_to_match(added, target, "filter", target_name, check_interrupt);
  if (added.shape().cells > target.shape.cells) {
    require_room(target, target_name, estimate(added, check_interrupt));
  }
  return fitting;
}

}  // namespace bloom
