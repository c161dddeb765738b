// The filters of the bloom tables of one connection.
//
// When SQLite reloads the schema within a transaction, it makes a second object of each virtual
// table. The first object stays part of the transaction. Both objects then share one filter.
//
// Outside a transaction no new object shares a filter. A schema name can come to mean another
// file (DETACH, ATTACH) while prepared statements still hold the old object.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sql/bloom_table/paged/paged_filter.h"

namespace bloom {

class FilterRegistry {
 public:
  struct Release {
    FilterRegistry* registry;
    void operator()(PagedFilter* filter) const { registry->release(filter); }
  };
  using FilterRef = std::unique_ptr<PagedFilter, Release>;

  // The arguments of the PagedFilter constructor.
  struct Arguments {
    sqlite3* db;
    std::string schema;
    std::string table;
    std::uint64_t cache_bytes;
    std::optional<Growth> growth;
  };

  // Returns a new filter, for a table that is being created.
  FilterRef create(const Arguments& arguments);
  // Returns the filter of an existing table: the filter that the current transaction is changing,
  // if there is one, else a new filter.
  FilterRef open(const Arguments& arguments);
  // Call when `filter` has a new name. Other filters of that name are then out of date and are
  // never shared again.
  void retire_others(PagedFilter& filter);

 private:
  // A plain counter: two threads never use one connection at the same time, and std::shared_ptr
  // would require glibc 2.32.
  struct Entry {
    std::unique_ptr<PagedFilter> filter;
    int references = 0;
  };

  FilterRef add(const Arguments& arguments);
  FilterRef acquire(Entry& entry);
  void release(PagedFilter* filter);

  SharedByFilters shared_;
  std::vector<Entry> entries_;
};

}  // namespace bloom
