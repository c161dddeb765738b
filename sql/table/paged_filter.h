// The filter of a bloom table, as one connection sees it: shadow tables, with a cache of chunks
// before them.
//
// In a transaction, changed chunks stay in the cache until a savepoint or the commit writes them.
// Between transactions the cache holds what the database had at data version `version_`.
// Everything may throw SqliteError for a statement on the shadow tables that fails, with
// SQLITE_CORRUPT_VTAB for one that finds them damaged. A change that fails halfway cannot be undone
// here: the filter is then broken, and refuses everything, the commit as well, until the
// transaction or the savepoint before that change is rolled back.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/chunked.h"
#include "core/estimate.h"
#include "core/filter.h"
#include "core/growth.h"
#include "core/layers.h"
#include "sql/table/chunk_cache.h"
#include "sql/table/store.h"

namespace bloom {

class PagedFilter {
 public:
  // `growth`: adds layers as keys come (core/growth.h).
  PagedFilter(sqlite3* db, std::string schema, std::string table, std::uint64_t cache_bytes,
              const std::optional<Growth>& growth);

  const std::string& schema() const { return store_.schema(); }
  const std::string& table() const { return store_.table(); }
  // It was dropped, or another table has taken its name: what made the table was rolled back.
  void retire() { retired_ = true; }
  bool is_of(const std::string& schema, const std::string& table) const;
  // Whether it is the filter of this table, and in a transaction that it is told of.
  bool is_changing(const std::string& schema, const std::string& table, bool grows) const;

  // The shadow tables. create() also begins a transaction; the header is that of the first layer.
  // fill(add) is called once, and adds keys by add(hash).
  using Add = std::function<void(Hash hash)>;
  void create(const Header& header, const std::function<void(const Add&)>& fill = {});
  void drop();
  void rename(const std::string& table);

  // What SQLite tells of a transaction: sql/sqlite/module.h.
  void begin();
  void savepoint(int number);
  void rolled_back_to(int number);
  void sync() { write_changes(); }
  void committed();
  void rolled_back();

  // To call before the first reading of a statement.
  void notice_commits();

  // Leaves keys waiting that do: it is called for each.
  const Layers& layers() {
    if (!is_loaded_) {
      load();
    }
    return layers_;
  }
  const Shape& shape() { return layers().shape(); }
  bool grows() const { return growth_.has_value(); }
  std::uint64_t stale() { return loaded(), config_.stale; }

  // As those of core's Filter. A filter that grows skips a key that it may have already; add()
  // returns false then, too. replace() removes one key and adds another.
  bool may_contain(Hash hash) { return loaded().may_contain(hash, cache_); }
  bool add(Hash hash);
  // The same without the answer: many keys at a time.
  void put(Hash hash) {
    if (!can_wait(hash)) {
      add(hash);
    } else {
      wait(hash);
    }
  }
  bool remove(Hash hash);
  void replace(Hash old_key, Hash new_key);

  // A key of the source is gone that stays in the filter.
  void count_stale();

  // Empties the filter, makes it one layer with this header, and fills it.
  void remake(const Header& header, const std::function<void(const Add&)>& fill);
  void clear();  // also takes all layers away but the first

  // REQUIRES: one layer. merge(): a filter of the same shape.
  void merge(const FilterView& filter, const Pause& pause);
  void halve();
  Filter whole();

  // Read all of it. check() throws for the first thing that is wrong.
  void check();
  std::vector<Estimate> estimates();  // of each layer

 private:
  class Change;

  const LayeredFilter<ChunkCache>& loaded() {
    layers();
    if (waiting_count_ != 0) {
      add_waiting();
    }
    return *filter_;
  }

  // Keys may wait to be added together if that cannot fail: their chunks are at hand, and
  // changed. Whatever else is done with the chunks adds them first.
  bool can_wait(Hash hash) const {
    return is_loaded_ && in_transaction_ && knows_savepoints_ && !growth_ &&
           cache_.is_changed(filter_->chunk_of(hash));
  }
  void wait(Hash hash) {
    waiting_[waiting_count_++] = hash;
    if (waiting_count_ == waiting_.size()) {
      add_waiting();
    }
  }
  void add_waiting();
  void load();
  void forget();  // changes, too
  void write_changes();
  void rolled_back_state();
  void require_whole() const;
  // For changes.
  void use(const Config& config);
  void fill_with(const std::function<void(const Add&)>& fill);
  bool add_key(Hash hash);
  void grow_if_full(Hash hash);
  double keys_in_newest();
  void merge_chunk(std::uint64_t i, const std::uint8_t* from);

  // Calls f(layer, first cell, count, cells) for each stored chunk in order.
  template <typename F>
  void for_each_run(F&& f);

  Store store_;
  ChunkCache cache_;
  std::optional<Growth> growth_;
  bool is_loaded_ = false;
  Config config_;
  Layers layers_;
  std::optional<LayeredFilter<ChunkCache>> filter_;
  // So many keys fit into the newest layer for sure, as far as this transaction knows.
  std::uint64_t room_ = 0;
  std::uint64_t not_looked_ = 0;  // so many keys were added since it looked how full the layer is
  std::array<Hash, 64> waiting_;
  std::size_t waiting_count_ = 0;
  unsigned version_ = 0;
  bool in_transaction_ = false;
  // Whether SQLite has told of all savepoints that are open.
  bool knows_savepoints_ = true;
  // One at which the changes before it could not be written.
  std::optional<int> failed_savepoint_;
  std::uint64_t rollbacks_ = 0;
  bool broken_ = false;
  bool retired_ = false;
};

// The filters of a connection. When SQLite reads the schema anew in a transaction, it makes another
// object of a table that may have changes at hand: both must have one filter. Not so outside of a
// transaction: the name of a schema can come to mean another file, while statements keep the old
// object.
//
// The count of users is plain: std::shared_ptr's asks for glibc 2.32, and one connection is never
// in two threads at once.
class PagedFilters {
 public:
  struct EndUse {
    PagedFilters* filters;
    void operator()(PagedFilter* filter) const { filters->end_use(filter); }
  };
  using Use = std::unique_ptr<PagedFilter, EndUse>;

  // A new one, for a table that is created.
  Use create(sqlite3* db, const std::string& schema, const std::string& table,
             std::uint64_t cache_bytes, const std::optional<Growth>& growth);
  // The filter of a table that is there: the one that the transaction changes, or a new one.
  Use of(sqlite3* db, const std::string& schema, const std::string& table,
         std::uint64_t cache_bytes, const std::optional<Growth>& growth);
  // To call when a filter takes the name of a table: others that have it are of none any more.
  void retire_others(const PagedFilter& filter, const std::string& table);

 private:
  struct Used {
    std::unique_ptr<PagedFilter> filter;
    int users = 0;
  };

  Use add(sqlite3* db, const std::string& schema, const std::string& table,
          std::uint64_t cache_bytes, const std::optional<Growth>& growth);
  Use use(Used& used);
  void end_use(PagedFilter* filter);

  std::vector<Used> filters_;
};

}  // namespace bloom
