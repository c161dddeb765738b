// The filters of the bloom tables of one connection.
//
// When SQLite reads the schema again in a transaction, it makes a second object of each table,
// while the first one keeps its place in the transaction. Both objects then share one filter.
// Outside of a transaction they do not: the name of a schema can come to mean another file, while
// prepared statements keep the old object.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sql/table/paged_filter.h"

namespace bloom {

class FilterRegistry {
 public:
  struct Release {
    FilterRegistry* registry;
    void operator()(PagedFilter* filter) const { registry->release(filter); }
  };
  using Handle = std::unique_ptr<PagedFilter, Release>;

  // What makes a filter: see the constructor of PagedFilter.
  struct Definition {
    sqlite3* db;
    std::string schema;
    std::string table;
    std::uint64_t cache_bytes;
    std::optional<Growth> growth;
  };

  // A new filter, for a table that is being created.
  Handle create(const Definition& definition);
  // The filter of an existing table: the one that the transaction changes, or a new one.
  Handle open(const Definition& definition);
  // Call when a filter takes the name of a table: others of that name are out of date.
  void retire_others(const PagedFilter& filter, const std::string& table);

 private:
  // The count is plain: std::shared_ptr's needs glibc 2.32, and two threads never use one
  // connection at a time.
  struct Entry {
    std::unique_ptr<PagedFilter> filter;
    int handles = 0;
  };

  Handle add(const Definition& definition);
  Handle acquire(Entry& entry);
  void release(PagedFilter* filter);

  std::vector<Entry> entries_;
  std::uint64_t epoch_ = 1;  // see PagedFilter
};

}  // namespace bloom
