// The shadow tables of a bloom table, and the SQL that reads and writes them.
//
//   <name>_config(k PRIMARY KEY, v) WITHOUT ROWID    'version'; 'header', of every layer one after
//                                                    the other; 'merged', 'stale', 'triggers',
//                                                    'guard' and 'missed', if not 0 (see Config)
//   <name>_data(id INTEGER PRIMARY KEY, chunk BLOB)  the cells, 3,968 bytes a row (docs/format.md)
// A chunk whose cells are all 0 needs no row. What is read is checked: a Store throws
// SqliteError(SQLITE_CORRUPT_VTAB) for what cannot be there.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/filter/layers.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/statement.h"

namespace bloom {

struct Config {
  std::vector<Header> layers;  // at least one
  // How many keys of the source went away since the filter was last made of those that it has.
  std::uint64_t stale = 0;
  // Filters from elsewhere were merged in: what the counters add up to is then not known.
  bool merged = false;
  // Which triggers the source has: see Source. 0 without a source, and in files of version 1.0.
  std::uint64_t triggers = 0;
  // The index of the source that holds no rows: see Source. Empty without a source, and in files of
  // version 1.0.
  std::string guard = {};
  // Why rows of the source may lack their keys; empty if none do.
  std::string missed = {};
};

class Store {
 public:
  Store(sqlite3* db, std::string schema, std::string table);

  const std::string& schema() const { return schema_; }
  const std::string& table() const { return table_; }

  // Whether <name>_<suffix> is a shadow table.
  static bool is_shadow(std::string_view suffix);

  // Each throws SqliteError as well when the statement fails.
  void create(const Config& config);
  void drop();
  void rename(const std::string& table);

  Config load_config();
  // Config::guard alone; empty if the table is not as it should be.
  std::string load_guard();
  void save_config(const Config& config);
  // Adds 1 to the stale keys in the config.
  void note_stale_key();

  // Fills `cells`, which is as long as chunk i is to be. Returns false, with `cells` zeroed, when
  // there is no row.
  bool load_chunk(std::uint64_t i, std::span<std::uint8_t> cells);
  // A new row. Counts in changes(), so only a statement on the table itself may do it.
  void insert_chunk(std::uint64_t i, std::span<const std::uint8_t> cells);
  // The same with so many bytes that are 0, unless there is a row.
  void insert_empty_chunk(std::uint64_t i, std::size_t size);
  void delete_chunk(std::uint64_t i);
  void delete_chunks_from(std::uint64_t i);

  // Calls f(i, cells) for each row in order; cells end where they are to end.
  using EachChunk = std::function<void(std::uint64_t i, std::span<const std::uint8_t> cells)>;
  void for_each_chunk(const Layers& layers, const EachChunk& f);

  // The chunks that have a row, in order.
  std::vector<std::uint64_t> stored_chunks();

  // Changes with every commit to the database file, of this connection or another one. None if the
  // connection no longer knows the schema by its name.
  std::optional<unsigned> data_version() const;

  // What the connection is doing: see sql/sqlite/connection.h.
  bool is_writing() const { return sqlite::is_writing(db_, schema_.c_str()); }
  bool in_autocommit() const { return sqlite3_get_autocommit(db_) != 0; }
  int running_writers() const { return sqlite::running_writers(db_); }
  bool statement_runs_to_its_end() const { return sqlite::runs_to_its_end(db_); }
  bool is_written_through_trigger() const { return sqlite::writes_through_trigger(db_, table_); }
  int total_changes() const { return sqlite3_total_changes(db_); }
  bool roll_back() { return sqlite::roll_back(db_); }
  bool sees_uncommitted() { return read_uncommitted_.check(db_); }
  void statement_was_prepared() { read_uncommitted_.statement_was_prepared(); }

  // Runs a statement that does nothing but have a savepoint, at which SQLite tells every table of
  // the transaction of those that are open.
  void announce_savepoints();

  // Goes up whenever something is written.
  std::uint64_t writes() const { return writes_; }

 private:
  friend class ChunkWriter;
  class InUse;

  sqlite3* db_;
  std::string schema_;
  std::string table_;
  // A function of the host's, in a trigger on a shadow table, may not use the table itself.
  bool in_use_ = false;
  std::uint64_t writes_ = 0;
  sqlite::ReadUncommitted read_uncommitted_;

  // Prepared when they are first used.
  std::optional<sqlite::Statement> load_config_;
  std::optional<sqlite::Statement> load_;
  std::optional<sqlite::Statement> insert_;
  std::optional<sqlite::Statement> count_stale_;

  std::string shadow(std::string_view suffix) const;
  const sqlite::Statement& prepared(std::optional<sqlite::Statement>& statement,
                                    const std::string& sql);
  bool insert_or_ignore(std::uint64_t i, std::span<const std::uint8_t> cells);
  void run(const std::string& sql);
  void forget_statements();
};

// Writes rows that are there, for as long as it lives, which must be within one call of SQLite's:
// an open blob would keep the transaction from committing. It leaves changes() as it is: the end of
// a statement writes, and an UPDATE there would be counted as the work of the user's statement.
class ChunkWriter {
 public:
  explicit ChunkWriter(Store& store) : store_(store) {}
  ChunkWriter(const ChunkWriter&) = delete;
  ChunkWriter& operator=(const ChunkWriter&) = delete;
  ~ChunkWriter() { sqlite3_blob_close(blob_); }

  // `cells` must be as long as chunk i is.
  void write(std::uint64_t i, std::span<const std::uint8_t> cells);

 private:
  Store& store_;
  sqlite3_blob* blob_ = nullptr;
};

}  // namespace bloom
