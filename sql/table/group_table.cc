#include "sql/table/group_table.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/operations/merge.h"
#include "core/support/error.h"
#include "sql/sqlite/interrupts.h"
#include "sql/sqlite/sql_text.h"
#include "sql/table/damage.h"
#include "sql/table/incoming_filter.h"
#include "sql/values/arguments.h"

namespace bloom {
namespace {

using sqlite::SqliteError;

constexpr std::string_view kGroupCommands = "'optimize', 'clear' and 'integrity-check'";
constexpr std::string_view kRangeCommands =
    "'summarize', 'rebuild', 'optimize' and 'integrity-check'";
constexpr std::size_t kMaxCachedSlots = std::size_t{1} << 16U;
constexpr std::size_t kLongestCachedMember = 256;  // bytes

struct GroupProperty {
  GroupColumn column;
  const char* name;
  const char* type;
};
constexpr GroupProperty kGroupProperties[] = {
    {GroupColumn::keys, "keys", "INTEGER"},         {GroupColumn::fpr, "fpr", "REAL"},
    {GroupColumn::capacity, "capacity", "INTEGER"}, {GroupColumn::bytes, "bytes", "INTEGER"},
    {GroupColumn::overfull, "overfull", "INTEGER"}, {GroupColumn::info, "info", "TEXT"},
};

Value group_column(const Values& columns, GroupColumn column) {
  return columns[static_cast<int>(column)];
}

void require_group_name(const char* name) {
  const auto refuse_if_taken = [&](const char* column) {
    if (sqlite3_stricmp(name, column) == 0) {
      fail("a table cannot be called " + sqlite::quoted_text(name) +
           ": it has a column of this name (choose another name)");
    }
  };
  for (const char* column : {"member", "key", "filter", "first", "last"}) {
    refuse_if_taken(column);
  }
  for (const GroupProperty& property : kGroupProperties) {
    refuse_if_taken(property.name);
  }
}

// `ranges`: null if the members are not ranges of rows.
//
// A hidden column without another type would have the affinity NUMERIC: key IN ('05', 'x') would
// then look up 5. SQLite removes HIDDEN from the type by moving the rest of the type to the front.
// Since 3.37 it then takes the last six bytes of the type for the collation. So the type ends with
// the collation, too: HIDDEN BLOB nocase becomes BLOB nocase, followed by nocase. For rtrim it ends
// with binary: without a collation, key IN (SELECT ...) would take that of the subquery, and could
// drop keys.
//
// The primary key is the hidden column for commands, which returns the identity of the row (see
// Cursor::return_row). It is not the column member: a lookup of several keys can return a member
// several times, and SQLite relies on the primary key for DISTINCT and OR.
std::string declared_columns(const char* table, Collation collation, const RowRanges* ranges) {
  const std::string_view type = ranges != nullptr ? ranges->type_of_key() : "";
  std::string columns =
      ranges != nullptr ? "CREATE TABLE x(first INTEGER" : "CREATE TABLE x(member";
  columns.append(", key HIDDEN ").append(type.empty() ? "BLOB" : type).append(" ");
  columns.append(name_of(collation == Collation::nocase ? collation : Collation::binary));
  columns.append(" COLLATE ").append(name_of(collation));
  columns.append(", filter BLOB HIDDEN");
  for (const GroupProperty& property : kGroupProperties) {
    columns.append(", ").append(property.name).append(" ").append(property.type).append(" HIDDEN");
  }
  columns.append(", ").append(sqlite::quoted_name(table)).append(" BLOB HIDDEN PRIMARY KEY");
  return columns + (ranges != nullptr ? ", last INTEGER" : "") + ") WITHOUT ROWID";
}

[[noreturn]] void refuse_null_member() {
  throw SqliteError(SQLITE_CONSTRAINT_NOTNULL, "member must not be NULL");
}

// Returns the type and the bytes of a member, as the key of PerStatementCache::slots. Returns "" if
// the member is too long to be cached.
std::string cache_key(const Value& member) {
  const std::string type(1, static_cast<char>('0' + member.type()));
  const Key bytes(member);
  return bytes.bytes().size() > kLongestCachedMember ? "" : type + std::string(bytes.bytes());
}

}  // namespace

// The scope of a change that writes several rows. If the scope ends without done(), the rows are
// undone.
//
// SQLite may open savepoints for the statements that write the rows, and report them to the table.
// Such a savepoint does not end the user's statement, so the table ignores it.
class GroupTable::Change {
 public:
  explicit Change(GroupTable& table)
      : table_(table), progress_(table.transaction_, table.store_.writes()) {
    ++table.changes_in_progress_;
  }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;
  ~Change() {
    --table_.changes_in_progress_;
    if (done_) {
      return;
    }
    table_.cache_.reset();
    if (progress_.has_written() && !progress_.is_undone() && !progress_.is_undone_on_failure()) {
      table_.transaction_.roll_back();
    }
  }
  void done() { done_ = true; }

 private:
  GroupTable& table_;
  ChangeProgress progress_;
  bool done_ = false;
};

void GroupTable::change(const std::function<void()>& f) {
  Change change(*this);
  f();
  transaction_.note_written(true);
  change.done();
}

GroupTable::GroupTable(const sqlite::Definition& definition, Shared& shared)
    : db_(definition.db),
      shared_(shared),
      options_(definition.db, definition.arguments),
      store_(definition.db, definition.schema, definition.table),
      transaction_(definition.db) {
  require_group_name(definition.table);
  if (const auto source = options_.source()) {
    ranges_.emplace(db_, definition.schema, definition.table, *source, options_.rows());
    options_.set_default_collation(ranges_->collation());
  }
  columns_ =
      declared_columns(definition.table, options_.collation(), ranges_ ? &*ranges_ : nullptr);
  shared_.tables.push_back(this);
}

GroupTable::~GroupTable() {
  shared_.tables.erase(std::find(shared_.tables.begin(), shared_.tables.end(), this));
}

void GroupTable::Shared::write_deferred_keys() {
  for (GroupTable* const table : tables) {
    table->write_deferred_keys();
  }
}

void GroupTable::create() {
  GroupConfig config{.header = options_.header()};
  store_.create(config);
  if (ranges_) {
    ranges_->create(store_.table(), options_.collation(), config);
    add_ranges(config);
  }
  transaction_.created();
}

void GroupTable::destroy() {
  if (ranges_) {
    ranges_->drop(store_.table(), store_.load_guard());
  }
  store_.drop();
}

int GroupTable::best_index(sqlite3_index_info& info) {
  if (ranges_) {
    ranges_->schema_may_have_changed();
  }
  return choose_group_plan(info, options_.collation());
}

void GroupTable::rename(const char* name) {
  require_group_name(name);
  require_usable();
  shared_.write_deferred_keys();
  ranges_ ? ranges_->rename(store_, name) : store_.rename(name);
  if (transaction_.is_open()) {
    transaction_.note_renamed();
  } else {
    has_stale_name_ = true;
  }
}

void GroupTable::begin() {
  end_statement();
  transaction_.begin();
}

void GroupTable::savepoint(int number) {
  if (changes_in_progress_ != 0) {
    return;
  }
  write_deferred_keys();
  end_statement();
  transaction_.savepoint(number);
}

void GroupTable::released(int number) {
  if (changes_in_progress_ != 0) {
    return;
  }
  write_deferred_keys();
  end_statement();
  transaction_.released(number);
}

void GroupTable::rolled_back_to(int number) {
  const bool undoes_rename = transaction_.undoes_rename(number);
  if (!transaction_.rolled_back_to(number)) {
    return;
  }
  deferred_keys_.clear();
  end_statement();
  has_stale_name_ = has_stale_name_ || undoes_rename;
}

// If sqlite3_close() was refused, the transaction is still open. Deferred keys are lost by then, so
// the transaction must be rolled back.
void GroupTable::rolled_back() {
  const bool lost =
      !deferred_keys_.empty() && sqlite::has_write_transaction(db_, store_.schema().c_str());
  has_stale_name_ = has_stale_name_ || transaction_.undoes_rename();
  deferred_keys_.clear();
  end_statement();
  transaction_.rolled_back();
  if (lost) {
    sqlite::roll_back(db_);
  }
}

void GroupTable::committed() {
  end_statement();
  transaction_.committed();
}

// Requires: no key is deferred.
void GroupTable::end_statement() { cache_.reset(); }

void GroupTable::require_usable() const {
  if (has_stale_name_) {
    throw SqliteError(SQLITE_ABORT,
                      "the table was renamed while the statement ran (run the statement again)");
  }
}

GroupTable::PerStatementCache& GroupTable::per_statement_cache() {
  const int changes = sqlite3_total_changes(db_);
  if (!cache_ || cache_->changes != changes) {
    cache_ = {.changes = changes, .config = store_.load_config(), .slots = {}};
  }
  return *cache_;
}

int GroupTable::update(const Values& values) {
  require_usable();
  if (!transaction_.is_open()) {
    // An SQL function of the host can roll back while a statement runs.
    throw SqliteError(SQLITE_ABORT_ROLLBACK, "the transaction was rolled back meanwhile");
  }
  if (changes_in_progress_ != 0) {
    fail("a trigger on a shadow table cannot change the table");
  }
  const Value old_row = values[0];
  const bool is_command = values.size() > 1 && old_row.is_null() &&
                          !group_column(values.from(2), GroupColumn::command).is_null();
  if (ranges_ && !is_command) {
    refuse_change_of_ranges();
  }
  if (values.size() == 1) {
    remove_member(old_row);
  } else if (old_row.is_null()) {
    return insert(values.from(2));
  } else {
    rename_member(old_row, values.from(2));
  }
  return SQLITE_OK;
}

void GroupTable::refuse_change_of_ranges() const {
  const std::string source = sqlite::quoted_text(ranges_->source());
  fail("cannot change the ranges of " + source + " (change " + source +
       " instead, and run the command 'summarize')");
}

int GroupTable::insert(const Values& columns) {
  const Value member = group_column(columns, GroupColumn::member);
  const Value key = group_column(columns, GroupColumn::key);
  const Value filter = group_column(columns, GroupColumn::filter);
  const Value command = group_column(columns, GroupColumn::command);
  refuse_properties(columns);
  if (!command.is_null()) {
    if (!member.is_null() || !key.is_null() || !filter.is_null()) {
      fail("one row cannot have a command and a member, key or filter (INSERT several rows)");
    }
    run_command(command);
    return SQLITE_OK;
  }
  if (member.is_null()) {
    if (sqlite3_vtab_on_conflict(db_) == SQLITE_IGNORE) {
      return SQLITE_CONSTRAINT;  // SQLite then skips the row
    }
    refuse_null_member();
  }
  if (filter.is_null()) {
    return insert_key(member, key);
  }
  if (!key.is_null()) {
    fail("one row cannot have a key and a filter (INSERT several rows)");
  }
  insert_filter(member, filter);
  return SQLITE_OK;
}

void GroupTable::refuse_properties(const Values& columns) {
  for (const GroupProperty& property : kGroupProperties) {
    if (!group_column(columns, property.column).is_null()) {
      fail("the column " + std::string(property.name) +
           " is read-only (INSERT a member with a key or a filter, or a command)");
    }
  }
}

// Returns the slot of a member, or nullopt if it does not exist.
std::optional<std::uint64_t> GroupTable::find(const Value& member) {
  const PerStatementCache& cache = per_statement_cache();
  const auto known = cache.slots.find(cache_key(member));
  if (known != cache.slots.end()) {
    return known->second;
  }
  const auto slot = store_.slot_of(cache.config, member);
  if (slot) {
    remember(member, *slot);
  }
  return slot;
}

// Requires: the member does not exist, and the caller has a Change.
std::uint64_t GroupTable::add_member(const Value& member) {
  GroupConfig config = per_statement_cache().config;
  const std::uint64_t slot = store_.add_member(member, config);
  remember(member, slot);
  return slot;
}

void GroupTable::remember(const Value& member, std::uint64_t slot) {
  auto& slots = per_statement_cache().slots;
  if (slots.size() >= kMaxCachedSlots) {
    slots.clear();
  }
  if (std::string name = cache_key(member); !name.empty()) {
    slots.insert_or_assign(std::move(name), slot);
  }
}

// For a NULL key adds only the member, because no value that is looked up equals NULL. INSERT OR
// IGNORE adds the key only if it is certainly absent.
int GroupTable::insert_key(const Value& member, const Value& key) {
  const bool skip_present = sqlite3_vtab_on_conflict(db_) == SQLITE_IGNORE;
  const Key bytes(key);
  const auto add_key = [&](std::uint64_t slot) {
    if (!bytes.is_null()) {
      add(slot, bytes.hash(per_statement_cache().config.header.shape));
    }
  };
  const auto slot = find(member);
  if (!slot) {
    change([&] { add_key(add_member(member)); });
    return SQLITE_OK;
  }
  if (skip_present) {
    write_deferred_keys();
    const GroupConfig& config = per_statement_cache().config;
    if (bytes.is_null() || may_contain(config, *slot, bytes.hash(config.header.shape))) {
      return SQLITE_CONSTRAINT;
    }
  }
  add_key(*slot);
  return SQLITE_OK;
}

// The first key of a statement is often its only key. Writing it costs less than deciding how to
// write.
void GroupTable::add(std::uint64_t slot, Hash hash) {
  if (transaction_.has_written_a_key()) {
    transaction_.decide_write_mode(store_.table());
  }
  const BitSlicedFilters filters(per_statement_cache().config.header.shape);
  DeferredKey key{filters.chunk_of(hash), slot, hash};
  if (transaction_.is_deferring()) {
    defer(key);
  } else {
    write(per_statement_cache().config, {&key, 1});
    transaction_.note_written(true);
  }
}

void GroupTable::defer(const DeferredKey& key) {
  deferred_keys_.push_back(key);
  if (deferred_keys_.size() == kMaxDeferred) {
    write_deferred_keys();
  }
}

// If writing fails, the keys stay deferred: a lookup within the statement that adds them may have
// tried to write them, and that statement may go on.
void GroupTable::write_deferred_keys() {
  if (!deferred_keys_.empty()) {
    write(per_statement_cache().config, deferred_keys_);
    deferred_keys_.clear();
  }
}

// Sorts the keys, so that each chunk of a segment is written once.
void GroupTable::write(const GroupConfig& config, std::span<DeferredKey> keys) {
  const auto chunk_of = [](const DeferredKey& key) {
    return std::pair(key.chunk, key.slot / kSegmentFilters);
  };
  std::sort(keys.begin(), keys.end(),
            [&](const DeferredKey& a, const DeferredKey& b) { return chunk_of(a) < chunk_of(b); });
  GroupWriter writer(store_, config);
  for (auto first = keys.begin(); first != keys.end();) {
    const auto end = std::find_if(first, keys.end(), [&](const DeferredKey& key) {
      return chunk_of(key) != chunk_of(*first);
    });
    write_chunk(writer, config, {first, end});
    first = end;
  }
}

// Requires: all keys are in one chunk of one segment.
void GroupTable::write_chunk(GroupWriter& writer, const GroupConfig& config,
                             std::span<const DeferredKey> keys) {
  const BitSlicedFilters filters(config.header.shape);
  const std::uint64_t chunk = keys.front().chunk;
  const std::uint64_t segment = keys.front().slot / kSegmentFilters;
  if (segment >= config.wide) {
    writer.change_chunk(chunk, segment, [&](std::uint8_t* cells) {
      for (const DeferredKey& key : keys) {
        filters.add(key.hash, FilterSet{1} << key.slot % kSegmentFilters, cells);
      }
    });
    return;
  }
  for (const DeferredKey& key : keys) {
    filters.for_each_position(key.hash, [&](std::uint64_t p) {
      writer.set_wide_bit(key.slot, chunk * kSegmentBlock + p);
    });
  }
}

bool GroupTable::may_contain(const GroupConfig& config, std::uint64_t slot, Hash hash) {
  const BitSlicedFilters filters(config.header.shape);
  const std::uint64_t segment = slot / kSegmentFilters;
  const std::uint64_t chunk = filters.chunk_of(hash);
  const FilterSet own = FilterSet{1} << slot % kSegmentFilters;
  FilterSet found = own;
  if (segment >= config.wide) {
    store_.with_chunk(chunk, segment, [&](const std::uint8_t* cells) {
      found &= filters.may_contain(hash, cells);
    });
    return found != 0;
  }
  WideReader reader(store_, config);
  filters.for_each_position(hash, [&](std::uint64_t p) {
    if (found != 0) {
      reader.for_each_word({segment, segment + 1}, chunk * kSegmentBlock + p,
                           [&](auto, FilterSet word) { found &= word; });
    }
  });
  return found != 0;
}

void GroupTable::insert_filter(const Value& member, const Value& filter) {
  sqlite::Interrupts interrupts(db_);
  const InterruptCheck check_interrupt = interrupts.check();
  const FilterView added = filter_argument(filter, "filter", check_interrupt);
  std::optional<Filter> fitting;
  if (!is_neutral(added)) {
    const Header header = store_.load_config().header;
    fitting = fit_incoming_filter(added, header, "the member", check_interrupt);
  }
  shared_.write_deferred_keys();
  change([&] {
    const auto known = find(member);
    const std::uint64_t slot = known ? *known : add_member(member);
    if (fitting) {
      store_.add_filter(per_statement_cache().config, slot, fitting->view().cells());
    }
  });
}

// Returns the slot of a row that Cursor::return_row() has named.
std::uint64_t GroupTable::slot_of_row(const Value& row, std::string_view change) {
  if (row.type() != SQLITE_INTEGER) {
    fail("cannot " + std::string(change) +
         " members by key: the lookup may return a member that does not have the key (compare "
         "member, as in WHERE member = ?)");
  }
  return static_cast<std::uint64_t>(row.integer());
}

void GroupTable::rename_member(const Value& row, const Values& columns) {
  for (int i = static_cast<int>(GroupColumn::key); i < columns.size(); ++i) {
    if (!columns[i].is_unchanged()) {
      fail("UPDATE can change only the column member, and cannot have FROM");
    }
  }
  const std::uint64_t slot = slot_of_row(row, "rename");
  const Value member = group_column(columns, GroupColumn::member);
  if (member.is_null()) {
    refuse_null_member();
  }
  shared_.write_deferred_keys();
  const auto other = store_.slot_of(store_.load_config(), member);
  if (other && other != slot) {
    throw SqliteError(SQLITE_CONSTRAINT_UNIQUE,
                      "member " + member.describe() + " exists already (DELETE it first)");
  }
  if (store_.has_member(slot)) {
    store_.rename_member(slot, member);
  }
  cache_.reset();
  transaction_.note_written(true);
}

void GroupTable::remove_member(const Value& row) {
  const std::uint64_t slot = slot_of_row(row, "delete");
  shared_.write_deferred_keys();
  const GroupConfig config = store_.load_config();
  if (!store_.has_member(slot)) {
    return;
  }
  change([&] {
    const bool is_wide = slot / kSegmentFilters < config.wide;
    if (!is_wide) {
      store_.clear_filter(config, slot);
    }
    store_.free_slot(slot, !is_wide);
  });
}

void GroupTable::run_command(const Value& command) {
  const std::string text(command.type() == SQLITE_TEXT ? command.text() : std::string_view());
  const auto is = [&](const char* name) { return sqlite3_stricmp(text.c_str(), name) == 0; };
  shared_.write_deferred_keys();
  if (is("optimize")) {
    optimize();
  } else if (!ranges_ && is("clear")) {
    change([&] { store_.clear(); });
  } else if (ranges_ && is("summarize")) {
    summarize();
  } else if (ranges_ && is("rebuild")) {
    rebuild();
  } else if (is("integrity-check")) {
    check_integrity();
  } else {
    fail("unknown command " + command.describe() + " (the commands are " +
         std::string(ranges_ ? kRangeCommands : kGroupCommands) + ")");
  }
}

// In _data a lookup reads one row per segment, and these rows are neighbours. In _wide a lookup
// reads k rows for up to 496 segments, and each row takes about twice as long (bench/groups.py). So
// _wide is faster for more than 2 * k segments.
void GroupTable::optimize() {
  GroupConfig config = store_.load_config();
  const std::uint64_t full = store_.full_segments(config);
  // Segments that are in _wide already are written again only to clear the bits of free slots.
  if (full <= std::uint64_t{2} * config.header.shape.hashes ||
      (full == config.wide && store_.free_slots_below(full * kSegmentFilters).empty())) {
    return;
  }
  change([&] { store_.widen(config, full); });
}

void GroupTable::check_integrity() {
  require_usable();
  shared_.write_deferred_keys();
  const GroupConfig config = store_.load_config();
  store_.check(config);
  if (ranges_) {
    check_ranges(config);
  }
}

void add_group_module(sqlite3* db) {
  add_range_reader_function(db);
  sqlite::Module<GroupTable>::add(db);
}

}  // namespace bloom
