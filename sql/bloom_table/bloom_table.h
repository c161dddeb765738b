// The virtual table of CREATE VIRTUAL TABLE ... USING bloom(...). docs/virtual-table.md is its
// reference. What SQL does with it:
//
// CREATE VIRTUAL TABLE seen USING bloom(capacity=100000, fpr=0.01);
//     Creates a filter for 100,000 keys at a false-positive rate of 1 %.
// CREATE VIRTUAL TABLE visits_seen USING bloom(source=visits, column=url);
//     Fills the filter with the urls of `visits`, and keeps it in sync with that table by triggers.
// CREATE VIRTUAL TABLE recent USING bloom(capacity=1000000, generations=4);
//     Creates a filter that forgets: 'rotate' drops the oldest of its four generations.
//
// INSERT INTO seen(key) VALUES ('a.example'), (42);
//     Adds keys. INSERT OR IGNORE adds only those that are certainly absent, unless the filter is
//     counting.
// INSERT INTO seen(filter) VALUES (bloom_add(bloom_create(100000), 'e.example'));
//     Merges the keys of a compatible filter into the table.
// DELETE FROM seen WHERE key = 'a.example';
//     Removes a key. If the key may be present, fails unless the table has kind=counting.
//
// SELECT key FROM seen WHERE key = 'a.example';
//     Returns one row if the key may be present, and none if it is certainly absent.
// SELECT key FROM seen;
//     Fails when it runs: a Bloom filter cannot list its keys.
// SELECT count(*) FROM seen;
//     Returns the estimated number of keys.
// SELECT filter, fpr FROM seen;
//     Returns the filter as a blob, and a property: BloomColumn lists them.
//
// INSERT INTO seen(seen) VALUES ('integrity-check');
//     A text value in the column named like the table is a command. 'integrity-check' reads all
//     chunks and fails with SQLITE_CORRUPT_VTAB if one is missing or has another size, or if
//     counters do not add up. With a source it also fails as SourceFollower::check() does. The
//     other commands are:
//
//     'halve'    halves the size of the filter; the false-positive rate rises
//     'fold'     halves the size until the next halving would raise the false-positive rate above
//                the value in the column `fpr`: INSERT INTO seen(seen, fpr) VALUES ('fold', 0.01)
//     'clear'    removes all keys
//     'rebuild'  builds the filter again from its source (only for a table that has one)
//     'merge'    moves the pending changes of the source into the filter
//     'rotate'   removes the keys of the oldest generation (only for a table that has generations)
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/bloom_table/bloom_options.h"
#include "sql/bloom_table/bloom_plan.h"
#include "sql/bloom_table/paged/filter_registry.h"
#include "sql/bloom_table/paged/paged_filter.h"
#include "sql/bloom_table/source_follower.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/module.h"
#include "sql/sqlite/value.h"
#include "sql/values/key.h"
#include "sql/vtab/columns.h"
#include "sql/vtab/commands.h"
#include "sql/vtab/list_collations.h"

namespace bloom {

using sqlite::Value;
using sqlite::Values;

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
  static bool is_shadow(std::string_view suffix) noexcept { return BloomStore::is_shadow(suffix); }

  sqlite3* db() const noexcept { return db_; }
  const char* name() const noexcept { return filter_->table().c_str(); }
  const char* columns() const { return columns_.c_str(); }

  int best_index(sqlite3_index_info& info);
  int update(const Values& values);
  int code_to_report(int code) noexcept { return filter_->code_to_report(code); }

  void begin() {
    is_written_ = true;
    filter_->begin();
  }
  void sync() { filter_->sync(); }
  void committed() {
    is_written_ = false;
    filter_->committed();
  }
  void rolled_back() {
    is_written_ = false;
    filter_->rolled_back();
  }
  void savepoint(int number) { filter_->savepoint(number); }
  void released(int number) { filter_->released(number); }
  void rolled_back_to(int number) { filter_->rolled_back_to(number); }
  void check_integrity();

 private:
  int insert(const Values& columns);
  void refuse_properties(const Values& columns, bool takes_fpr) const;
  void insert_filter_or_command(const Value& key, const Value& filter, const Value& command,
                                const Value& fpr);
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
  void run_command(const Value& command, const Value& fpr);
  void rebuild();
  void merge();
  void clear();
  void rotate();
  void halve();
  void fold(double fpr);
  std::string declared_columns();
  std::string declared_parts();
  bool is_command(int column) const { return column == command_column_; }
  std::string info(const std::vector<Estimate>& estimates);
  FilterRegistry::Arguments filter_arguments() const;

  static const Command<BloomTable> kCommands[];

  sqlite3* db_;
  FilterRegistry& filters_;
  std::string schema_;
  std::string name_when_opened_;
  std::string columns_;
  int command_column_ = static_cast<int>(BloomColumn::command);
  PartColumns parts_;
  bool is_written_ = false;  // a statement of the open transaction writes to the table
  BloomOptions options_;
  std::optional<SourceFollower> follower_;
  FilterRegistry::FilterRef filter_;
  ListCollations list_collations_;
  sqlite::CachedEncoding encoding_;
};

class BloomTable::Cursor {
 public:
  explicit Cursor(BloomTable& table)
      : table_(table),
        filter_(*table.filter_),
        key_columns_(table.follower_ ? table.follower_->columns().size() : 1) {
    filter_.begin_statement();
  }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  void start(int plan, const char* idx_string, const Values& values);
  using Hidden = HiddenColumn<BloomColumn, Cursor>;
  static std::span<const Hidden> hidden_columns();

  void next() noexcept { --rows_; }
  bool at_end() const noexcept { return rows_ == 0; }
  void column(sqlite3_context* raw, int i);

 private:
  struct Part {
    sqlite::ReusableValue value;
    SourceComparison::OtherForms other;
  };

  [[noreturn]] void refuse_scan() const;
  void require_collation_of_lists();
  bool is_in_sync();
  void require_in_sync();
  static void require_filter_operands(const Values& values, int first);
  void require_composite(const Key& key, const Value& value) const;
  void require_same_part_collations();
  Hash hash_of(const Key& key);
  void look_up(const Value& value);
  void look_up_parts(const Values& values);
  void append_to_key_of_parts(const Key& key, const Part& part, bool is_numeric);
  bool may_contain(const SourceComparison::OtherForms& forms);
  bool may_contain_other_parts();
  void set_part(sqlite3_context* raw, std::size_t part) const;
  std::uint64_t count_keys();
  const std::vector<Estimate>& estimates();
  std::vector<Header> headers();
  void return_filter_of_table(sqlite::Context& context);

  static const Hidden kHidden[];
  BloomTable& table_;
  PagedFilter& filter_;
  const std::size_t key_columns_;  // more than one: the keys are composite
  BloomPlan plan_ = BloomPlan::count;
  bool lists_are_checked_ = false;
  // The value that was looked up, as the column of the source would store it: SQLite may use this
  // column in place of the other side of a join condition.
  sqlite::ReusableValue key_;
  std::vector<Part> parts_;     // the same for the columns of a composite key
  CountedString packed_;        // the composite key of the values that were looked up
  CountedString key_of_parts_;  // what the column `key` then returns
  std::uint64_t rows_ = 0;      // left to return, with the current one
  // Of the current row. Empty until a column needs them, because they read all chunks.
  std::vector<Estimate> estimates_;
};

}  // namespace bloom
