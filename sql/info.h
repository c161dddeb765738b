// What bloom_info() and the info column of a table tell about a filter.
#pragma once

#include <cstdint>
#include <string>

#include "core/estimate.h"
#include "core/format.h"

namespace bloom {

std::uint64_t rounded_keys(const Estimate& estimate);

// JSON; docs/functions.md has its members.
std::string info_json(const Header& header, const Estimate& now);

}  // namespace bloom
