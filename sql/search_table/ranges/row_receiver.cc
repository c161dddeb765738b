#include "sql/search_table/ranges/row_receiver.h"

#include "core/support/error.h"
#include "sql/sqlite/function.h"
#include "sql/sqlite/sql_text.h"

namespace bloom {
namespace {

constexpr char kReceiverType[] = "bloom row receiver";

// bloom_search_row(pointer, rowid, values...): passes a row on. Returns 0, so that the query
// returns no row, or 1 if the receiver does not want more.
void see_row(sqlite::Context& context, const sqlite::Values& arguments) {
  auto* const receiver = arguments.size() < 2
                             ? nullptr
                             : static_cast<RowReceiver*>(arguments[0].pointer(kReceiverType));
  if (receiver == nullptr) {
    fail("only the extension itself can call this function");
  }
  context.result_int64(receiver->add_row(arguments[1].integer(), arguments.from(2)) ? 0 : 1);
}

constexpr sqlite::ScalarFunction kSeeRow{"bloom_search_row", see_row, sqlite::kAnyNumber,
                                         sqlite::kInternal};

// NOT INDEXED and ORDER BY: the rows come in the order of their rowids.
std::string sql_of_feed(const SearchSource& source, std::span<const std::size_t> terms) {
  const std::string id = sqlite::quoted_column(source.rowid_alias());
  std::string sql = "SELECT 1 FROM " + source.qualified() + " NOT INDEXED WHERE " + id +
                    " BETWEEN ?1 AND ?2 AND " + kSeeRow.name + "(?3, " + id;
  for (const std::size_t term : terms) {
    sql.append(", ").append(source.sql_of_term(term));
  }
  return sql + ") ORDER BY " + id;
}

}  // namespace

void throw_unless_of_a_row(const sqlite::Outcome& outcome) {
  if (outcome.code() != SQLITE_ERROR && outcome.code() != SQLITE_TOOBIG) {
    outcome.throw_failure();
  }
}

RowFeed::RowFeed(const SearchSource& source, std::span<const std::size_t> terms)
    : select_(source.db(), sql_of_feed(source, terms)) {}

bool RowFeed::read(RowidRange rows, RowReceiver& receiver) const {
  return !sqlite::Execution(select_)
              .bind(1, rows.first)
              .bind(2, rows.last)
              .bind_pointer(3, &receiver, kReceiverType)
              .step();
}

void add_row_receiver_function(sqlite3* db) { sqlite::add_function(db, kSeeRow); }

}  // namespace bloom
