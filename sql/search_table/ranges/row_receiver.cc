#include "sql/search_table/ranges/row_receiver.h"

#include "core/support/error.h"
#include "sql/sqlite/function.h"
#include "sql/sqlite/sql_text.h"

namespace bloom {
namespace {

constexpr char kReceiverType[] = "bloom row receiver";

// One call of RowFeed::read().
struct Reading {
  Reading(sqlite3* connection, RowReceiver& rows)
      : db(connection), receiver(rows), changes(sqlite3_total_changes(db)) {}

  bool is_disturbed() const { return sqlite3_total_changes(db) != changes; }

  sqlite3* db;
  RowReceiver& receiver;
  int changes;  // sqlite3_total_changes() after the last row
  bool was_disturbed = false;
};

// bloom_search_row(pointer, rowid, values...): passes a row on. Returns 0, so that the query
// returns no row, or 1 if the receiver does not want more.
void see_row(sqlite::Context& context, const sqlite::Values& arguments) {
  auto* const reading =
      arguments.size() < 2 ? nullptr : static_cast<Reading*>(arguments[0].pointer(kReceiverType));
  if (reading == nullptr) {
    fail("only the extension itself can call this function");
  }
  reading->was_disturbed = reading->was_disturbed || reading->is_disturbed();
  const bool wants_more = reading->receiver.add_row(arguments[1].integer(), arguments.from(2));
  reading->changes = sqlite3_total_changes(reading->db);
  context.result_int64(wants_more ? 0 : 1);
}

constexpr sqlite::ScalarFunction kSeeRow{"bloom_search_row", see_row, sqlite::kAnyNumber,
                                         sqlite::kInternal};

// NOT INDEXED and ORDER BY: the rows come in the order of their rowids.
std::string sql_of_feed(const SearchSource& source, std::span<const std::size_t> items) {
  const std::string id = sqlite::quoted_column(source.rowid_alias());
  std::string sql = "SELECT 1 FROM " + source.qualified() + " NOT INDEXED WHERE " + id +
                    " BETWEEN ?1 AND ?2 AND " + kSeeRow.name + "(?3, " + id;
  for (const std::size_t item : items) {
    sql.append(", ").append(source.sql_of_item(item));
  }
  return sql + ") ORDER BY " + id;
}

}  // namespace

void throw_unless_row_failed(const sqlite::Outcome& outcome) {
  if (outcome.code() != SQLITE_ERROR && outcome.code() != SQLITE_TOOBIG) {
    outcome.throw_failure();
  }
}

RowFeed::RowFeed(const SearchSource& source, std::span<const std::size_t> items)
    : source_(source), select_(source.db(), sql_of_feed(source, items)) {}

bool RowFeed::read(RowidRange rows, RowReceiver& receiver) {
  Reading reading(source_.db(), receiver);
  bool is_stopped = false;
  const auto outcome = sqlite::Outcome::of([&] {
    is_stopped = sqlite::Execution(select_)
                     .bind(1, rows.first)
                     .bind(2, rows.last)
                     .bind_pointer(3, &reading, kReceiverType)
                     .step();
  });
  was_disturbed_ = was_disturbed_ || reading.was_disturbed || reading.is_disturbed();
  outcome.throw_failure();
  return !is_stopped;
}

void RowFeed::require_undisturbed() const {
  if (was_disturbed_) {
    throw sqlite::SqliteError(
        SQLITE_ABORT, "a function has written to the database while it computed values of " +
                          sqlite::quoted_text(source_.name()) +
                          " (expressions and generated columns must not call such functions)");
  }
}

void add_row_receiver_function(sqlite3* db) { sqlite::add_function(db, kSeeRow); }

}  // namespace bloom
