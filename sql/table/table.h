// The table of CREATE VIRTUAL TABLE ... USING bloom(...): docs/virtual-table.md says what it does.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sql/arguments.h"
#include "sql/sqlite/module.h"
#include "sql/table/filter_registry.h"
#include "sql/table/options.h"
#include "sql/table/paged_filter.h"
#include "sql/table/plan.h"
#include "sql/table/source_follower.h"

namespace bloom {

class BloomTable {
 public:
  static constexpr char kModule[] = "bloom";

  using Shared = FilterRegistry;

  class Cursor;

  BloomTable(const sqlite::Definition& definition, FilterRegistry& filters);

  void create();
  void connect();
  void destroy();
  void rename(const char* name);
  static bool is_shadow(std::string_view suffix) { return Store::is_shadow(suffix); }

  sqlite3* db() const { return db_; }
  const char* name() const { return filter_->table().c_str(); }
  const char* columns() const { return columns_.c_str(); }

  int plan(sqlite3_index_info& info);
  int update(const Values& values);
  int code_to_report(int code) { return filter_->code_to_report(code); }

  void begin() { filter_->begin(); }
  void sync() { filter_->sync(); }
  void committed() { filter_->committed(); }
  void rolled_back() { filter_->rolled_back(); }
  void savepoint(int number) { filter_->savepoint(number); }
  void released(int number) { filter_->released(number); }
  void rolled_back_to(int number) { filter_->rolled_back_to(number); }
  void check();

 private:
  int insert(const Values& columns);
  void insert_filter_or_command(const Value& key, const Value& filter, const Value& command);
  void refuse_if_following(std::string_view change) const {
    if (follower_) {
      refuse_following(change);
    }
  }
  [[noreturn]] void refuse_following(std::string_view change) const;
  void require_one_layer(std::string_view action);
  int insert_key(const Value& value);
  void require_counting();
  void remove_key(const Value& value);
  void replace_key(const Value& old_key, const Values& columns);
  void run_command(const Value& command);
  std::string info();
  FilterRegistry::Definition filter_definition() const;

  sqlite3* db_;
  FilterRegistry& filters_;
  std::string schema_;
  std::string created_as_;
  std::string columns_;
  Options options_;
  std::optional<SourceFollower> follower_;
  FilterRegistry::Handle filter_;
};

class BloomTable::Cursor {
 public:
  explicit Cursor(BloomTable& table) : table_(table), filter_(*table.filter_) {
    filter_.begin_statement();
  }

  void filter(int plan, const char* text, const Values& values);
  void next() noexcept { found_ = false; }
  bool at_end() const noexcept { return !found_; }
  void column(sqlite3_context* raw, int i);

 private:
  [[noreturn]] void refuse_scan() const;
  void require_in_sync();
  static void require_filters(const Values& values, int first);
  void look_up(const Value& value);

  BloomTable& table_;
  PagedFilter& filter_;
  Plan plan_ = Plan::refused_scan;
  sqlite::KeptValue key_;  // as it was asked for: joins are rewritten through this column
  bool found_ = false;
};

}  // namespace bloom
