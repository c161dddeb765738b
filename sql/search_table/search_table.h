// The virtual table `bloom_search`: searches a table by LIKE, by words and by any combination of
// columns, with Bloom filters of ranges of its rows.
//
// CREATE VIRTUAL TABLE log_search USING bloom_search(source=log, like=(msg), words=(msg),
//                                                    equal=(user, payload->>'$.trace' AS trace));
// SELECT * FROM log_search WHERE user = 'u77' AND msg LIKE '%timeout%' ORDER BY id DESC LIMIT 20;
//     Returns the rows of `log`, with its columns and rowids. The filters decide which ranges of
//     rows are read; one statement on `log` reads each run of ranges, with the conditions of the
//     query.
//
// Filters of ranges say nothing about rows behind the last range and about changed rows, so these
// are read. Where a filter cannot know, all rows are read.
//
// A column of `equal` that has an index in `log` has one filter over the whole table instead. It
// says whether the index is worth a lookup: see table_filter/table_filter_lookup.h.
//
// INSERT INTO log_search(log_search) VALUES ('summarize');
//     A value in the column named like the table is a command. The commands are:
//     'summarize'        covers new and changed rows, and drops ranges without rows
//     'rebuild'          makes all ranges again, and the triggers on the source
//     'optimize'         rearranges the filters of many ranges, so that lookups read fewer pages
//     'integrity-check'  reads everything and fails with SQLITE_CORRUPT_VTAB if a range lacks a key
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "sql/search_table/ranges/range_builder.h"
#include "sql/search_table/ranges/range_lookup.h"
#include "sql/search_table/ranges/search_store.h"
#include "sql/search_table/search_columns.h"
#include "sql/search_table/search_options.h"
#include "sql/search_table/search_plan.h"
#include "sql/search_table/search_source.h"
#include "sql/search_table/table_filter/table_filter_lookup.h"
#include "sql/source/source_comparison.h"
#include "sql/sqlite/module.h"
#include "sql/vtab/columns.h"
#include "sql/vtab/commands.h"
#include "sql/vtab/list_collations.h"
#include "sql/vtab/transaction_state.h"

namespace bloom {

using sqlite::Value;
using sqlite::Values;

class SearchTable {
 public:
  static constexpr char kModule[] = "bloom_search";

  // The tables of one connection.
  struct Shared {
    std::vector<SearchTable*> tables;
    int building = 0;  // commands that are making ranges
  };

  class Search;
  class Cursor;

  SearchTable(const sqlite::Definition& definition, Shared& shared);
  SearchTable(const SearchTable&) = delete;
  SearchTable& operator=(const SearchTable&) = delete;
  ~SearchTable();

  void create();
  void connect();
  void destroy();
  void rename(const char* name);
  static bool is_shadow(std::string_view suffix) noexcept { return SearchStore::is_shadow(suffix); }

  sqlite3* db() const noexcept { return db_; }
  const char* name() const noexcept { return store_.tables().table().c_str(); }
  const char* columns() const { return columns_.declaration().c_str(); }

  int best_index(sqlite3_index_info& info);
  int update(const Values& values);
  int code_to_report(int code) noexcept { return transaction_.code_to_report(code); }
  // MATCH on a column of the table.
  static const sqlite::ScalarFunction* find_function(int arguments, const char* name) noexcept;

  // The calls of SQLite.
  void begin() { transaction_.begin(); }
  void sync() {}
  void committed() { transaction_.committed(); }
  void rolled_back() { transaction_.rolled_back(); }
  void savepoint(int number) { transaction_.savepoint(number); }
  void released(int number) { transaction_.released(number); }
  void rolled_back_to(int number) { transaction_.rolled_back_to(number); }
  void check_integrity();

 private:
  // A statement on the source that no cursor uses now.
  struct IdleStatement {
    std::string key;  // the source, the conditions and the columns
    std::unique_ptr<sqlite::Statement> statement;
  };

  std::unique_ptr<Search> take_search();
  void keep_search(std::unique_ptr<Search> search) noexcept;

  // What LIKE and GLOB do on this connection, now.
  struct Like {
    bool is_usual;  // an application may have replaced them, for example to ignore the case of all
                    // letters
    bool ignores_case;
  };

  // A condition that the filter over the whole table can answer, if it has the column.
  struct FilterCondition {
    int argument;
    const KeyRule* column;
    Affinity affinity;
  };

  // What the filter over the whole table says: it has no answer yet; some row may meet the
  // conditions of the plan; none does.
  enum class Answer { unknown, maybe, none };
  Answer look_up_in_filter(const char* plan, const Values& values);
  void find_filter_conditions(const char* plan);
  // Returns the searched column whose keys answer this equality; null if there is none. The filter
  // over the whole table may lack that column: see TableFilterLookup::has().
  const KeyRule* column_for_filter(const SearchFacts& facts, const SearchCondition& condition);
  // Returns true only if no row has a value that is equal to this one. Requires:
  // table_filter_.make_ready() has returned true.
  bool surely_lacks(const KeyRule& column, Affinity affinity, const Value& value);
  void append_equal_keys(const KeyRule& column, Affinity affinity, const Value& value,
                         SearchKeys& keys);
  Like like();
  // Call when a statement is prepared. Discards statements with LIKE or GLOB: SQLite does not
  // prepare them again after an application has replaced LIKE for text in another encoding.
  void forget_like();
  void refuse_conditions_on_commands(const sqlite3_index_info& info) const;
  void refuse_properties_of_rows(const sqlite3_index_info& info) const;
  [[noreturn]] void refuse_hidden(std::string_view column) const;
  // Call before a query reads the source.
  void refresh_names_if_needed();
  // Returns whether a running statement may have an outer join. SQLite makes a cursor for each
  // execution of a subquery, so the table keeps the result.
  bool may_be_outer_join();
  // Returns whether an application has made its own LIKE or GLOB.
  bool has_own_like() const;
  void require_usable();
  // Makes other objects of this name check their name from now on.
  void watch_others();
  SearchFacts facts(const SearchConfig& config) const {
    return {columns_, options_, source_, config};
  }
  static const Command<SearchTable> kCommands[];
  void run(const Value& command);
  void require_in_sync(const SearchConfig& config);
  // As SearchSource does. Also throws SqliteError(SQLITE_AUTH) if an authorizer hides the ranges.
  std::optional<std::string> out_of_sync(const SearchConfig& config);
  // Makes ranges of the changed rows and of those behind the last range. Saves the config.
  void cover(SearchConfig& config, const RowidRanges& changed);
  void cover(Family f, SearchConfig& config, const RowidRanges& changed, RowidRange appended);
  void summarize();
  void rebuild();
  void optimize();
  void cover_table_filter(SearchConfig& config, const RowidRanges& rows, std::int64_t last);
  void check_table_filter(const SearchConfig& config, const RowidRanges& changed);
  void check_rows(const SearchConfig& config, Family f, const RowidRanges& changed);
  void check_range(const FamilyConfig& config, Family f, const StoredRange& range,
                   const RowidRanges& changed);

  sqlite3* db_;
  Shared& shared_;
  SearchOptions options_;
  mutable SearchStore store_;
  SearchSource source_;
  SearchColumns columns_;
  std::array<std::vector<KeyRule>, 2> searched_;  // by family
  TransactionState transaction_;
  TextToNumber to_number_;
  std::unique_ptr<sqlite::Statement> like_test_;  // what do LIKE and GLOB do?
  bool must_test_like_ = false;                   // by a new statement
  bool must_refresh_names_ = false;               // best_index() could not
  struct {
    int preparations = -1;  // of the test, when this was read
    bool is_replaced = false;
  } replaced_like_;
  ListCollations list_collations_;
  // The result of may_be_outer_join(), and the running statements.
  std::optional<std::pair<std::string, bool>> outer_join_;
  std::vector<IdleStatement> idle_statements_;
  std::vector<std::unique_ptr<Search>> idle_searches_;  // of closed cursors
  TableFilterLookup table_filter_;
  std::string filtered_plan_;  // idxStr of the plan that filter_conditions_ belong to
  std::vector<FilterCondition> filter_conditions_;
  SearchKeys filter_keys_;
};

// Executes queries for a cursor. The table keeps it for the next cursor: SQLite opens one for each
// execution of a subquery, and reading the same plan again would take a quarter of the time.
class SearchTable::Search {
 public:
  using Hidden = HiddenColumn<SearchProperty, Search>;
  static std::span<const Hidden> hidden_columns();

  explicit Search(SearchTable& table) : table_(table) {}
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;
  ~Search();

  void start(int order, const char* idx_string, const Values& values);
  void next();
  bool at_end() const noexcept { return !execution_; }
  void column(sqlite3_context* raw, int i);
  std::int64_t rowid() const noexcept { return execution_->integer(0); }
  // Ends the execution. Returns whether it has left little memory in use.
  bool finish() noexcept;

 private:
  static constexpr int kFirstParameter = 3;  // after the rowids of a run
  // What the statement on the source says about rowids. The more it knows, the less time it takes.
  enum class Form : char { all_rows = 'a', one_row = '1', one_run = 'l', runs = 'r' };

  // A condition of the plan, and what the statement on the source needs for it.
  struct Condition : SearchCondition {
    std::string operand;     // the left side
    std::string comparison;  // operand, COLLATE and operator; unused for patterns, MATCH, IS NULL
    bool has_index;          // an index of the source finds the rows that are equal
  };
  // Whether SQLite has prepared a statement again since the last call. It does after a change of
  // the schema.
  class Preparations {
   public:
    bool have_changed(const sqlite::Execution& run) {
      return std::exchange(count_, run.repreparations()) != run.repreparations();
    }

   private:
    int count_ = -1;
  };
  // What the conditions say about the rows.
  struct Wanted {
    RowidRange rowids{kLowestRowid, kHighestRowid};
    bool has_index = false;  // an index of the source helps more than filters
    bool is_none = false;    // no row meets them
  };

  // Returns true if no row meets the conditions, as the filter over the whole table says. Where a
  // join finds nearly all values, the filter saves nothing, and is not always looked at.
  bool filter_has_none(const char* idx_string, const Values& values);
  // Returns a copy of a value, which is valid until the next start().
  Value own(const Value& value);
  // Reads the plan, unless the last execution had the same: a join has one plan for many values.
  void read_plan(const char* idx_string);
  // Sets where_.
  Wanted read_conditions();
  std::string operand_of(const SearchCondition& condition) const;
  bool has_index_for(const SearchCondition& condition) const;
  // Returns whether the statement on the source can have the condition, and appends it to `sql`.
  // False if that could lose rows which the user's condition accepts; `sql` is then undefined.
  bool push_down(const Condition& condition, const Value& value, std::string& sql) const;
  bool may_be_of_like_with_escape(const SearchCondition& condition, const Value& value) const;
  // Returns false if the condition does not limit the rowids.
  static bool limit_rowids(const SearchCondition& condition, std::int64_t value, Wanted& wanted);
  // Returns the values of column IN (...), without NULL and without those that no row has, as the
  // filter over the whole table says.
  std::vector<sqlite::OwnedValue> list_of(const SearchCondition& condition, const Value& argument);
  // Returns true if the list has no text, or if ListCollations finds no collation but BINARY and
  // this one.
  bool is_compared_by(const std::vector<sqlite::OwnedValue>& list, std::string_view collation);
  // If an index of the source can look up the values of a condition column IN (...), uses it for
  // the shortest such list: appends column = ? to where_, and sets list_by_index_ and
  // index_parameter_.
  void find_by_list();
  bool can_use_index(std::size_t condition);
  // Sets runs_ to the rows that must be read. Returns false if these are all rows.
  bool look_up(const SearchConfig& config, Wanted wanted);
  void narrow_by(const KeyRule& column, Affinity affinity, std::size_t condition,
                 RangeLookup& lookup);
  void prepare(bool in_runs);
  std::string sql() const;
  void keep_statement();
  void start_run();
  bool step();
  void read_row();
  void return_expression(sqlite3_context* raw, const std::string& sql);
  std::int64_t pending_rows(const SearchConfig& config);
  static std::uint64_t bytes(const SearchConfig& config);  // of all filters
  std::string info();

  static const Hidden kHidden[];
  SearchTable& table_;
  std::string plan_text_;
  int names_version_of_plan_ = -1;  // SearchSource::names_version() when the plan was read
  std::uint64_t columns_used_ = 0;  // as SearchPlan::columns_used
  std::vector<Condition> plan_;
  std::string columns_text_;                  // the columns of the plan, for statement_key_
  std::vector<const Condition*> conditions_;  // those of the plan that apply
  std::vector<Value> values_;                 // one per condition, valid in start()
  std::vector<std::vector<sqlite::OwnedValue>> lists_;  // those of the conditions that are lists
  std::string where_;                                   // of the statement on the source
  std::vector<Value> bound_;                            // its parameters
  std::vector<sqlite::OwnedValue> owned_;               // see own()
  unsigned maybes_in_a_row_ = 0;                        // of the filter over the whole table
  Form form_ = Form::all_rows;
  RowidRanges runs_;
  std::size_t run_ = 0;
  // If an index finds the rows of a list: its values, each of which needs a run of its own, and the
  // rows that were returned, because several values may find the same row.
  const std::vector<sqlite::OwnedValue>* list_by_index_ = nullptr;
  int index_parameter_ = 0;
  std::size_t next_in_list_ = 0;
  std::unordered_set<std::int64_t> returned_;
  int order_ = kNoOrder;
  WriteHistory::Moment opened_;
  std::string statement_key_;
  std::string wanted_statement_key_;  // of the next statement
  std::unique_ptr<sqlite::Statement> statement_;
  Preparations preparations_;  // of statement_
  std::optional<sqlite::Execution> execution_;
  std::optional<sqlite::Statement> expression_;
  Preparations preparations_of_expression_;
  std::string expression_sql_;
};

class SearchTable::Cursor {
 public:
  explicit Cursor(SearchTable& table) : table_(table), search_(table.take_search()) {}
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  ~Cursor() { table_.keep_search(std::move(search_)); }

  void start(int order, const char* idx_string, const Values& values) {
    search_->start(order, idx_string, values);
  }
  void next() { search_->next(); }
  bool at_end() const noexcept { return search_->at_end(); }
  void column(sqlite3_context* raw, int i) { search_->column(raw, i); }
  std::int64_t rowid() const noexcept { return search_->rowid(); }

 private:
  SearchTable& table_;
  std::unique_ptr<Search> search_;
};

// Registers the module on a connection. Throws SqliteError if SQLite refuses it.
void add_search_module(sqlite3* db);

}  // namespace bloom
