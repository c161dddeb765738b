// The state of the connection that calls the extension: transactions, running statements, caches.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sql/sqlite/api.h"

namespace bloom::sqlite {

// Returns whether the connection has a write transaction open on the schema; on any, if the schema
// is unknown. Before SQLite 3.34, also returns true for an explicit transaction that only reads,
// and for a transaction on another schema.
bool has_write_transaction(sqlite3* db, const char* schema);

// Returns the number of running statements on the connection that may write. Open write handles of
// sqlite3_blob_open() count, too. Takes about 10 ns per prepared statement of the connection.
int running_writers(sqlite3* db);

// Returns false if the connection certainly has no TEMP objects: SQLite opens the TEMP database for
// the first of them, or when a statement reads its schema.
inline bool has_temp_schema(sqlite3* db) { return sqlite3_db_readonly(db, "temp") >= 0; }

// Returns whether exactly one statement that may write is running, and it returns no rows. Such a
// statement runs to its end within the current sqlite3_step() call. The application cannot use the
// connection before that. Sets `statements` to the number of prepared statements of the connection.
// Takes about 10 ns per statement.
bool statement_runs_to_its_end(sqlite3* db, int& statements);

// Returns true if exactly one running statement may write, and its text does not have the name of
// the table: it then changes the table through a trigger. In an explicit transaction such a
// statement has a savepoint of its own. Returns false for a name with characters other than
// letters, digits and _, because SQL can spell such a name in several ways.
bool writes_through_trigger(sqlite3* db, std::string_view table);

// Returns whether a running statement may write to the rows of this ordinary table, itself or
// through triggers and foreign keys. It may then hold rows that it has not written yet. Also
// returns true for a statement whose program cannot be read, such as an open write handle of
// sqlite3_blob_open().
bool may_be_writing_to(sqlite3* db, const std::string& schema, const std::string& table);

// Returns whether PRAGMA query_only is on. Returns false if an authorizer denies it.
bool is_query_only(sqlite3* db);

// How the databases of a connection store text.
enum class Encoding { utf8, utf16_little, utf16_big };
Encoding encoding_of(sqlite3* db);

// Whether the databases of a connection are in UTF-8: read once.
class CachedEncoding {
 public:
  explicit CachedEncoding(sqlite3* db) : db_(db) {}
  // Returns false as long as an authorizer denies PRAGMA encoding.
  bool is_utf8() { return is_utf8_ ? *is_utf8_ : find_out(); }

 private:
  bool find_out();

  sqlite3* db_;
  std::optional<bool> is_utf8_;
};

// Returns the SQL of all running statements, each with a NUL after it, as a key for what depends on
// them. Takes about 10 ns per prepared statement of the connection.
std::string running_sql(sqlite3* db);

// Returns whether a running statement may have a LEFT, RIGHT or FULL JOIN. Returns true if
//   - its program has the instruction for rows without a match,
//   - its program cannot be read, or
//   - the SQL of the statement, or of a view or trigger that it may use, has such a join.
bool may_be_running_outer_join(sqlite3* db);

// Returns whether the triggers on the table `on`, an ordinary one with a rowid, may write to the
// rows of that table or of `table`. Also returns true if that cannot be known: a statement on it
// cannot be prepared, or triggers are off.
bool triggers_may_write_to(sqlite3* db, const std::string& schema, const std::string& on,
                           const std::string& table);

// Returns whether a change of the rows of the ordinary table, with its triggers, may end by FAIL.
// The change then keeps what it has written, and other triggers of the outer statement do not run.
// Assumes that UPDATE does not set the rowid. Also returns true if the table does not exist.
bool change_may_fail_halfway(sqlite3* db, const std::string& schema, const std::string& table);

// Returns whether an authorizer answers SQLITE_IGNORE for a column of this SELECT, so that the
// column reads as NULL. Requires: the SELECT only lists different columns of one table.
bool authorizer_hides_column(sqlite3* db, const std::string& select);
// Throws SqliteError(SQLITE_AUTH) if an authorizer hides one of `columns`, a list for SELECT in
// which the table has the alias t. Then also makes SQLite prepare all statements again. A statement
// that was prepared under the authorizer reads NULL, and would go on to do so after the authorizer
// is removed.
void require_readable(sqlite3* db, const std::string& schema, const std::string& table,
                      const std::string& columns = "*");

// Returns whether a running statement may write a row, keep it, and end before the AFTER triggers
// run. It can do so by RAISE in RETURNING, and, if `by_foreign_key`, by FAIL in a trigger on a
// table that a foreign key changes. Also returns true for a statement that cannot be explained.
bool running_writer_may_stop_early(sqlite3* db, bool by_foreign_key);
// Returns whether an update of a row may change rows of other tables by foreign keys.
bool updates_others_by_foreign_key(sqlite3* db, const std::string& schema,
                                   const std::string& table);

// Returns the statement that made a virtual table; empty if there is none of this name.
std::string virtual_table_sql(sqlite3* db, const std::string& schema, const std::string& table);

// Rolls back the whole transaction while one of its statements is running; that statement then
// fails. Returns whether the rollback succeeded.
bool roll_back(sqlite3* db);

// Returns whether the application can replace the whole database by sqlite3_deserialize() without
// SQLite noticing. This is so for a database that was itself made by sqlite3_deserialize(). The new
// database can have the same schema and data version, so prepared statements stay valid. A null
// schema means "main".
bool deserialize_can_replace(sqlite3* db, const char* schema);

// Returns whether another connection shares the page cache of this one now.
bool shares_cache(sqlite3* db);

// Restores last_insert_rowid() at the end of the scope: the user must not see the extension's own
// inserts.
class KeepLastRowid {
 public:
  explicit KeepLastRowid(sqlite3* db) : db_(db), rowid_(sqlite3_last_insert_rowid(db)) {}
  KeepLastRowid(const KeepLastRowid&) = delete;
  KeepLastRowid& operator=(const KeepLastRowid&) = delete;
  ~KeepLastRowid() { sqlite3_set_last_insert_rowid(db_, rowid_); }

 private:
  sqlite3* db_;
  sqlite3_int64 rowid_;
};

// Determines whether a connection sees uncommitted changes of other connections. It does if it
// shares their cache and PRAGMA read_uncommitted is on.
class ReadUncommitted {
 public:
  // Call whenever a statement is prepared. SQLite prepares all statements again after the pragma
  // has changed.
  void statement_was_prepared() { calls_ = 0; }
  // Call at the beginning of each statement, and before each lookup until is_known(). Returns
  // whether uncommitted changes are visible.
  //
  // Reading the pragma takes 2 us, and a statement of one lookup calls this twice. So the pragma is
  // read at once only if the cache is shared. Otherwise the third call reads it, and later calls
  // return that result, unless an authorizer has denied the pragma.
  bool sees_uncommitted(sqlite3* db);
  bool is_known() const { return calls_ == kCallsUntilKnown; }

 private:
  static constexpr int kCallsUntilKnown = 3;
  int calls_ = 0;  // since the last statement was prepared; kCallsUntilKnown: is_on_ is known
  bool is_on_ = false;
};

}  // namespace bloom::sqlite
