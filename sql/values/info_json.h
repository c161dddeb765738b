// The JSON that bloom_info() and the column `info` of a table return.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/layout/format.h"
#include "core/operations/estimate_result.h"

namespace bloom {

// Returns the estimated number of keys as an integer, as bloom_count() and `info` report it;
// nullopt if the filter is too full to estimate it.
std::optional<std::uint64_t> rounded_keys(const Estimate& estimate);

// Returns the JSON of one filter. docs/functions.md lists its members.
std::string info_json(const Header& header, const Estimate& estimate);

// Additional members for a table.
struct TableInfo {
  // The name of the member that lists the layers; empty: a table of one layer that does not grow.
  std::string_view layers_name;
  double total_fpr = 0;               // target FPR of all layers together, if they are listed
  std::optional<std::string> source;  // the followed table; nullopt: follows none
  std::vector<std::string> columns;   // the followed columns
  std::uint64_t pending = 0;          // changes in the change log
  double pending_fpr = 0;             // what they add to the FPR
};

// Returns the JSON of a table's layers. docs/virtual-table.md lists its members.
std::string info_json(std::span<const Header> layers, std::span<const Estimate> estimates,
                      const TableInfo& table);

// The members of a bloom_groups table and their storage.
struct GroupTotals {
  std::uint64_t members = 0;
  std::uint64_t segments = 0;       // of 64 members
  std::uint64_t wide_segments = 0;  // segments that the command 'optimize' has moved to _wide
  struct Source {
    std::string table;
    std::string member;
    std::vector<std::string> columns;
    std::uint64_t pending;  // changes in the change log
  };
  std::optional<Source> source = {};  // nullopt: the table follows none
};

// Returns the JSON of a bloom_groups table. `header` is that of each member's filter.
// docs/groups.md lists the fields of the JSON.
std::string groups_json(const Header& header, const GroupTotals& totals);

}  // namespace bloom
