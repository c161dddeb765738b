// What bloom_info() and the info column of a table tell about a filter.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/layout/format.h"
#include "core/operations/estimate.h"

namespace bloom {

std::uint64_t rounded_keys(const Estimate& estimate);

// JSON; docs/functions.md has its members.
std::string info_json(const Header& header, const Estimate& now);

// What a table can tell beside that.
struct TableInfo {
  std::optional<double> growth_fpr;   // of a table that grows: for all its layers
  std::optional<std::string> source;  // the table that it follows, and its columns
  std::vector<std::string> columns;
  std::uint64_t stale = 0;
};

// The same for the layers of a table; docs/virtual-table.md has its members.
std::string info_json(std::span<const Header> layers, std::span<const Estimate> now,
                      const TableInfo& table);

}  // namespace bloom
