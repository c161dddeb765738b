// The table of CREATE VIRTUAL TABLE ... USING bloom(...): docs/virtual-table.md says what it does.
//
// In a transaction, changed chunks stay in the cache until a savepoint or the commit writes them.
// Between transactions the cache holds what the database had at data version `version_`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/chunked.h"
#include "sql/arguments.h"
#include "sql/sqlite/module.h"
#include "sql/table/chunk_cache.h"
#include "sql/table/options.h"
#include "sql/table/plan.h"
#include "sql/table/store.h"

namespace bloom {

class BloomTable {
 public:
  static constexpr char kModule[] = "bloom";

  // All tables of a connection. When SQLite reads the schema anew in a transaction, it makes a new
  // object for a table, while the old one may still hold changes.
  using Shared = std::vector<BloomTable*>;

  class Cursor;

  BloomTable(const sqlite::Definition& definition, Shared& tables);
  BloomTable(const BloomTable&) = delete;
  BloomTable& operator=(const BloomTable&) = delete;
  ~BloomTable();

  void create();
  void connect();
  void destroy();
  void rename(const char* name);

  sqlite3* db() const { return db_; }
  const char* name() const { return store_.table().c_str(); }
  const char* columns() const { return columns_.c_str(); }
  static int plan(sqlite3_index_info& info) { return choose_plan(info); }

  bool may_contain(const Value& key);
  void return_blob(Context& context);
  std::string info();
  void check();
  int update(const Values& values);

  void begin();
  void sync() { write_changes(); }
  void committed();
  void rolled_back();
  void savepoint() { write_changes(); }
  void rolled_back_to() { forget(); }
  static bool is_shadow(std::string_view suffix) { return Store::is_shadow(suffix); }

  // Before anything is read outside a transaction of the table's own.
  void notice_commits();

 private:
  template <typename F>
  void for_each_other(F&& f);
  const Shape& shape() const { return config_.header.shape; }
  void require_loaded();
  void forget();
  void write_changes();

  int insert(const Values& columns);
  int add_key(const Value& key);
  void remove_key(const Value& key);
  void replace_key(const Value& old_key, const Values& columns);
  void merge(const Value& filter);
  void run_command(const Value& command);
  void clear();
  void halve();

  sqlite3* db_;
  Shared& tables_;
  Options options_;
  Store store_;
  ChunkCache cache_;
  std::string columns_;

  Config config_;  // if filter_ is there
  std::optional<ChunkedFilter<ChunkCache>> filter_;
  unsigned version_ = 0;
  bool in_transaction_ = false;
};

class BloomTable::Cursor {
 public:
  explicit Cursor(BloomTable& table) : table_(table) { table.notice_commits(); }

  void filter(int plan, const char* text, const Values& values);
  void next() noexcept { found_ = false; }
  bool at_end() const noexcept { return !found_; }
  void column(sqlite3_context* raw, int i);

 private:
  BloomTable& table_;
  Plan plan_ = Plan::refused_scan;
  sqlite::KeptValue key_;  // as it was asked for: joins are rewritten through this column
  bool found_ = false;
};

}  // namespace bloom
