// The filter of a bloom table, as one connection sees it: shadow tables, with a cache of chunks
// before them.
//
// In a transaction, changed chunks stay in the cache until a savepoint or the commit writes them.
// Between transactions the cache holds what the database had at data version `version_`.
// Everything may throw SqliteError for a statement on the shadow tables that fails, with
// SQLITE_CORRUPT_VTAB for one that finds them damaged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/chunked.h"
#include "core/estimate.h"
#include "core/filter.h"
#include "sql/table/chunk_cache.h"
#include "sql/table/store.h"

namespace bloom {

class PagedFilter {
 public:
  PagedFilter(sqlite3* db, std::string schema, std::string table, std::uint64_t cache_bytes);

  const std::string& schema() const { return store_.schema(); }
  const std::string& table() const { return store_.table(); }

  // The shadow tables. create() also begins a transaction.
  void create(const Header& header);
  void drop();
  void rename(const std::string& table);

  // A transaction: begin(); write_changes() at savepoints and before the commit; committed() or
  // rolled_back(). To call notice_commits() before the first reading of a statement.
  void begin();
  void write_changes();
  void committed();
  void rolled_back();
  void rolled_back_to_savepoint() { forget(); }
  void notice_commits();
  // Without regard to changes: the shadow tables are gone, or older than the cache.
  void forget();

  const Header& header();
  const Shape& shape() { return header().shape; }

  // As those of core's Filter.
  bool may_contain(const Hash& hash) { return loaded().may_contain(hash, cache_); }
  bool add(const Hash& hash) { return loaded().add(hash, cache_); }
  bool remove(const Hash& hash) { return loaded().remove(hash, cache_); }

  // Merges in a filter of the same shape.
  void merge(const FilterView& filter);
  void clear();
  void halve();

  // Reads all of it, throws for the first thing that is wrong.
  void check();
  Estimate estimate();
  Filter whole();

 private:
  const ChunkedFilter<ChunkCache>& loaded() {
    if (!filter_) {
      load();
    }
    return *filter_;
  }
  void load();

  // Calls f(first cell, cells) for each stored chunk in order.
  template <typename F>
  void for_each_run(F&& f);

  Store store_;
  ChunkCache cache_;
  Config config_;  // if filter_ is there
  std::optional<ChunkedFilter<ChunkCache>> filter_;
  unsigned version_ = 0;
  bool in_transaction_ = false;
};

}  // namespace bloom
