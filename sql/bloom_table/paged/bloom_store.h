// The shadow tables of a bloom table, and the SQL that reads and writes them.
//
// <name>_config(k PRIMARY KEY, v) WITHOUT ROWID    one row per value: see BloomConfig
// <name>_data(id INTEGER PRIMARY KEY, chunk BLOB)  up to 3,968 bytes of cells
// <name>_rowlog                                    see bloom_row_log.h
//
// docs/table-format.md lists the rows of the config.
//
// A chunk whose cells are all 0 needs no row. For each layer, a row 'rows 0', 'rows 1', ... of the
// config counts the chunks that have a row: so rows that another program has deleted are noticed.
// Invariant: a layer has at least as many rows as its count. So the count is raised after rows are
// inserted, and lowered before rows are deleted. A change that fails halfway may leave more rows
// than the count.
//
// Everything that is read is checked. A BloomStore throws SqliteError(SQLITE_CORRUPT_VTAB) for
// values that are not valid, and for missing rows.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/filter/layers.h"
#include "core/support/memory.h"
#include "sql/bloom_table/paged/bloom_config.h"
#include "sql/sqlite/database.h"
#include "sql/sqlite/statement.h"
#include "sql/vtab/row_log.h"
#include "sql/vtab/shadow_tables.h"

namespace bloom {

class BloomStore {
 public:
  BloomStore(sqlite3* db, std::string schema, std::string table);

  ShadowTables& tables() { return tables_; }
  const ShadowTables& tables() const { return tables_; }
  sqlite::Database& database() { return database_; }
  const sqlite::Database& database() const { return database_; }

  // Returns whether <name>_<suffix> is the name of a shadow table.
  static bool is_shadow(std::string_view suffix);

  // Functions that run SQL throw SqliteError if a statement fails.
  void create(const BloomConfig& config);

  BloomConfig load_config();
  std::string load_guard() { return tables_.text_in_config("guard"); }
  void save_config(const BloomConfig& config);
  // Saves the version, which tells older programs whether the row log has rows (row_log_has_rows).
  // Leaves changes() at 1.
  void save_version(const BloomConfig& config);

  // Reads chunk i into `cells`. Returns whether the chunk has a row; if it has none, fills `cells`
  // with zeros. Requires: `cells` has the size of chunk i.
  bool load_chunk(std::uint64_t i, std::span<std::uint8_t> cells);
  // Call after load_chunk() has found no row. Throws if the count of the layer says that every
  // chunk has a row: the missing row was then deleted by another program.
  void require_row_not_deleted(std::uint64_t i, const Layers& layers);
  // Inserts a row. Throws if the chunk already has one. The row counts in changes(), so this may be
  // called only within a statement on the bloom table itself.
  void insert_chunk(std::uint64_t i, std::span<const std::uint8_t> cells);
  // Inserts a row of `size` zero bytes, unless the chunk already has a row. Returns whether it had
  // none. Counts in changes(), too.
  bool insert_empty_chunk(std::uint64_t i, std::size_t size);
  void delete_chunk(std::uint64_t i);
  void delete_chunks_from(std::uint64_t i);

  // Deletes the rows of a layer, and resets its count.
  void delete_layer(const Layers& layers, std::size_t layer);

  // Change the counts of rows, if the rows are counted (BloomConfig::counts_rows). raise_count() is
  // called after rows of a layer were inserted, and reset_counts() before rows are deleted.
  // set_count_of_single_layer() sets the count to the number of rows. Requires: there is one layer.
  void raise_count(std::size_t layer, std::uint64_t rows);
  void reset_counts();
  void set_count_of_single_layer();

  RowLog& row_log() { return row_log_; }

  // Calls f(i, cells) for each row in order. `cells` has the size of chunk i. Throws at the end if
  // rows are missing.
  using EachChunk = std::function<void(std::uint64_t i, std::span<const std::uint8_t> cells)>;
  void for_each_chunk(const Layers& layers, const EachChunk& f);

  // Returns the numbers of the chunks that have a row, in order.
  CountedVector<std::uint64_t> stored_chunks();

  // Returns whether an authorizer or an interrupt would stop a merge of the row log.
  bool is_merge_refused();

  // Makes all open savepoints known to every table of the transaction (see TransactionState). Runs
  // a statement that writes nothing, but needs a savepoint of its own. SQLite reports only that
  // one, and its number tells that all lower ones are open.
  void make_savepoints_known();

  // Returns a counter that rises with every write.
  const std::uint64_t& writes() const { return writes_; }

 private:
  friend class ChunkWriter;
  class InUse;

  sqlite3* db_;
  sqlite::Database database_;
  ShadowTables tables_;
  // True while a statement on the shadow tables runs. A trigger on a shadow table could call an SQL
  // function of the host that uses the bloom table; such reentry is refused.
  bool in_use_ = false;
  std::uint64_t writes_ = 0;
  RowLog row_log_;

  bool insert_or_ignore(std::uint64_t i, std::span<const std::uint8_t> cells);
  std::uint64_t counted_rows(std::size_t layer);
};

// Returns the name of the shadow table <name>_config, without the schema.
std::string config_table(const std::string& table);
// Returns whether BloomConfig::trigger_set_number of a table is not 0. Needs no BloomStore.
// Until 'rebuild', it is 0 in a table of version 1.0.0 with a source, too.
bool config_has_triggers(sqlite3* db, const std::string& table);

// Overwrites existing chunks. Requires what RowWriter requires.
class ChunkWriter {
 public:
  explicit ChunkWriter(BloomStore& store) : store_(store), row_(store.tables_, "data", "chunk") {}

  // Requires: chunk i has a row, and `cells` has its size.
  void write(std::uint64_t i, std::span<const std::uint8_t> cells);

 private:
  BloomStore& store_;
  RowWriter row_;
};

}  // namespace bloom
