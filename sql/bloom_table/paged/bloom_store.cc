#include "sql/bloom_table/paged/bloom_store.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/layout/chunk_layout.h"
#include "core/sizing/growth.h"
#include "core/support/error.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/guard.h"
#include "sql/sqlite/sql_text.h"
#include "sql/vtab/damage.h"

namespace bloom {
namespace {

using sqlite::Execution;
using sqlite::KeepLastRowid;
using sqlite::Statement;

constexpr ShadowTable kStoreTables[] = {
    {"config", "(k PRIMARY KEY, v) WITHOUT ROWID", "k", "v"},
    {"data", "(id INTEGER PRIMARY KEY, chunk BLOB)", "id", "chunk"},
    RowLog::kTable};
// More rows than any version writes: one per layer, and one per other value.
constexpr std::size_t kMaxConfigRows = kMaxLayers + 100;
constexpr char kRowsDeleted[] =
    ": another program has deleted rows (restore a backup; or run 'rebuild', or 'clear' and add "
    "the keys again)";

constexpr std::string_view kCountPrefix = "rows ";

std::string count_name(std::size_t layer) {
  return std::string(kCountPrefix) + std::to_string(layer);
}
std::string chunk_name(std::uint64_t i) { return "chunk " + std::to_string(i); }

}  // namespace

// The scope of a statement on the shadow tables. Refuses reentry: see in_use_.
class BloomStore::InUse {
 public:
  explicit InUse(BloomStore& store) : store_(store) {
    if (store.in_use_) {
      throw_damaged("its shadow tables must not use the table itself");
    }
    store.in_use_ = true;
  }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;
  ~InUse() { store_.in_use_ = false; }

 private:
  BloomStore& store_;
};

BloomStore::BloomStore(sqlite3* db, std::string schema, std::string table)
    : db_(db),
      database_(db, schema),
      tables_(db, std::move(schema), std::move(table), kStoreTables),
      row_log_(tables_, writes_) {}

bool BloomStore::is_shadow(std::string_view suffix) {
  return ShadowTables::contains(kStoreTables, suffix);
}

void BloomStore::create(const BloomConfig& config) {
  tables_.create();
  save_config(config);
}

// A missing row or a value of the wrong type is damage for `version` and `header`, for `newest` in
// a table with generations, and for the counts in a table with counted rows. Other rows may be
// missing.
BloomConfig BloomStore::load_config() {
  const InUse in_use(*this);
  BloomConfig config;
  config.has_row_log = false;
  std::optional<std::int64_t> version;
  std::optional<std::int64_t> newest;
  std::size_t counts = 0;
  // Without a WHERE clause: `k IN (...)` would build two temporary tables at each execution, which
  // takes three times as long as the rest of a lookup.
  Execution run(tables_.prepared("SELECT k, v FROM {config}"));
  for (std::size_t row = 0; run.step(); ++row) {
    if (run.type(0) == SQLITE_NULL) {
      throw_damaged("the config has a row without a name");
    }
    if (row == kMaxConfigRows) {
      throw_damaged("the config has more than " + std::to_string(kMaxConfigRows) + " rows");
    }
    const std::string_view name = run.value(0).text();
    if (name == "version" && run.type(1) == SQLITE_INTEGER) {
      version = run.integer(1);
    } else if (name == "header" && run.type(1) == SQLITE_BLOB) {
      config.layers = parse_headers(run.blob(1));
    } else if (name == "newest" && run.type(1) == SQLITE_INTEGER) {
      newest = run.integer(1);
    } else if (name.starts_with(kCountPrefix) && run.type(1) == SQLITE_INTEGER) {
      ++counts;
    } else if (name == "rowlog") {
      config.has_row_log = true;
    } else if (name == "merged") {
      config.has_merged_filter = true;
    } else if (name == "triggers") {
      config.trigger_set_number = static_cast<std::uint64_t>(run.integer(1));
    } else if (name == "guard" && run.type(1) == SQLITE_TEXT) {
      config.guard_index = run.value(1).text();
    } else if (name == "missed" && run.type(1) == SQLITE_TEXT) {
      config.blocking_trigger = run.value(1).text();
    } else if (name == "parts" && run.type(1) == SQLITE_TEXT) {
      config.parts = part_collations_named(run.value(1).text()).value_or(PartCollations());
    }
  }
  require_known(version);
  if (config.layers.empty()) {
    throw_damaged("the config has no header");
  }
  if (has_parts(*version) == config.parts.empty()) {
    throw_damaged("the config does not say which collations the columns of the key have");
  }
  config.counts_rows = counts_rows(*version);
  config.row_log_has_rows = row_log_has_rows(*version);
  if (config.row_log_has_rows && !config.has_row_log) {
    throw_damaged("the config does not say that there is a row log, which has rows");
  }
  if (has_generations(*version)) {
    config.layers = as_generations(config.layers, newest);
  }
  if (config.counts_rows && counts < config.layers.size()) {
    throw_damaged("the config does not say how many chunks each layer has");
  }
  return config;
}

void BloomStore::save_config(const BloomConfig& config) {
  const InUse in_use(*this);
  ++writes_;
  const Statement replace = tables_.statement("REPLACE INTO {config} VALUES (?1, ?2)");
  std::vector<std::uint8_t> headers;
  for (const Layers::Layer& layer : config.layers.all()) {
    const auto bytes = write_header(layer.header);
    headers.insert(headers.end(), bytes.begin(), bytes.end());
  }
  Execution(replace).bind(1, "version").bind(2, version_of(config)).step();
  Execution(replace).bind(1, "header").bind(2, headers).step();
  const Statement erase = tables_.statement("DELETE FROM {config} WHERE k = ?1");
  const auto save = [&](const char* name, auto value, bool is_default) {
    if (is_default) {
      Execution(erase).bind(1, name).step();
    } else {
      Execution(replace).bind(1, name).bind(2, value).step();
    }
  };
  const auto save_number = [&](const char* name, std::uint64_t value) {
    save(name, static_cast<std::int64_t>(value), value == 0);
  };
  const auto save_text = [&](const char* name, std::string_view value) {
    save(name, value, value.empty());
  };
  if (config.counts_rows) {
    const Statement insert = tables_.statement("INSERT OR IGNORE INTO {config} VALUES (?1, 0)");
    for (std::size_t i = 0; i < config.layers.size(); ++i) {
      const std::string name = count_name(i);
      Execution(insert).bind(1, name).step();
    }
  }
  save("newest", static_cast<std::int64_t>(config.layers.newest_index()),
       !config.layers.are_generations());
  save_number("rowlog", config.has_row_log ? 1 : 0);
  save_number("merged", config.has_merged_filter ? 1 : 0);
  save_number("triggers", config.trigger_set_number);
  save_text("guard", config.guard_index);
  save_text("missed", config.blocking_trigger);
  save_text("parts", names_of(config.parts));
}

void BloomStore::save_version(const BloomConfig& config) {
  const InUse in_use(*this);
  ++writes_;
  Execution(tables_.prepared("UPDATE {config} SET v = ?1 WHERE k = 'version'"))
      .bind(1, version_of(config))
      .step();
}

bool BloomStore::load_chunk(std::uint64_t i, std::span<std::uint8_t> cells) {
  const InUse in_use(*this);
  Execution run(tables_.prepared("SELECT chunk FROM {data} WHERE id = ?1"));
  if (!run.bind(1, static_cast<std::int64_t>(i)).step()) {
    std::fill(cells.begin(), cells.end(), 0);
    return false;
  }
  const auto stored = sized_blob(run, 0, cells.size(), [&] { return chunk_name(i); });
  std::copy(stored.begin(), stored.end(), cells.begin());
  return true;
}

void BloomStore::insert_chunk(std::uint64_t i, std::span<const std::uint8_t> cells) {
  if (!insert_or_ignore(i, cells)) {
    throw_damaged(chunk_name(i) + " is there already");
  }
}

bool BloomStore::insert_empty_chunk(std::uint64_t i, std::size_t size) {
  const std::array<std::uint8_t, kChunkBytes> empty{};
  return insert_or_ignore(i, std::span(empty).first(size));
}

bool BloomStore::insert_or_ignore(std::uint64_t i, std::span<const std::uint8_t> cells) {
  const InUse in_use(*this);
  const KeepLastRowid keep(db_);
  const Statement& insert = tables_.prepared("INSERT OR IGNORE INTO {data} VALUES (?1, ?2)");
  Execution(insert).bind(1, static_cast<std::int64_t>(i)).bind(2, cells).step();
  const bool inserted = sqlite3_changes(db_) != 0;
  writes_ += inserted ? 1 : 0;
  return inserted;
}

std::uint64_t BloomStore::counted_rows(std::size_t layer) {
  Execution run(tables_.prepared("SELECT v FROM {config} WHERE k = ?1"));
  const std::string name = count_name(layer);
  return run.bind(1, name).step() ? static_cast<std::uint64_t>(run.integer(0)) : 0;
}

void BloomStore::require_row_not_deleted(std::uint64_t i, const Layers& layers) {
  const InUse in_use(*this);
  const Layers::Layer& layer = layers.layer_of(i);
  if (counted_rows(layers.index_of(layer)) == chunk_count(layer.header.shape)) {
    throw_damaged(chunk_name(i) + " is missing" + kRowsDeleted);
  }
}

void BloomStore::raise_count(std::size_t layer, std::uint64_t rows) {
  const InUse in_use(*this);
  ++writes_;
  const std::string name = count_name(layer);
  Execution(tables_.prepared("UPDATE {config} SET v = v + ?1 WHERE k = ?2"))
      .bind(1, static_cast<std::int64_t>(rows))
      .bind(2, name)
      .step();
}

void BloomStore::reset_counts() {
  const InUse in_use(*this);
  ++writes_;
  // A range instead of GLOB, which an application can override.
  tables_.run("UPDATE {config} SET v = 0 WHERE k >= 'rows ' AND k < 'rows!'");
}

void BloomStore::set_count_of_single_layer() {
  const InUse in_use(*this);
  ++writes_;
  const Statement select = tables_.statement("SELECT 1 FROM {data}");
  const std::uint64_t rows = Execution(select).count_rows();
  tables_.run("UPDATE {config} SET v = " + std::to_string(rows) + " WHERE k = '" + count_name(0) +
              "'");
}

void ChunkWriter::write(std::uint64_t i, std::span<const std::uint8_t> cells) {
  const BloomStore::InUse in_use(store_);
  if (row_.open(static_cast<std::int64_t>(i)) != cells.size()) {
    throw_damaged(chunk_name(i) + " has changed its size");
  }
  ++store_.writes_;
  row_.write(0, cells);
}

bool BloomStore::is_merge_refused() {
  return row_log_.is_merge_refused(
      {"DELETE FROM {data}", "INSERT INTO {data} VALUES (1, 1)", "UPDATE {config} SET v = 1"});
}

void BloomStore::delete_chunk(std::uint64_t i) {
  const InUse in_use(*this);
  tables_.run("DELETE FROM {data} WHERE id = " + std::to_string(i));
  ++writes_;
}

void BloomStore::delete_chunks_from(std::uint64_t i) {
  const InUse in_use(*this);
  tables_.run("DELETE FROM {data}" +
              (i == 0 ? std::string() : " WHERE id >= " + std::to_string(i)));
  ++writes_;
}

void BloomStore::delete_layer(const Layers& layers, std::size_t layer) {
  const InUse in_use(*this);
  const std::uint64_t first = layers.all()[layer].first_chunk;
  const std::uint64_t end = first + chunk_count(layers.all()[layer].header.shape);
  tables_.run("UPDATE {config} SET v = 0 WHERE k = '" + count_name(layer) + "'");
  tables_.run("DELETE FROM {data} WHERE id >= " + std::to_string(first) + " AND id < " +
              std::to_string(end));
  ++writes_;
}

void BloomStore::for_each_chunk(const Layers& layers, const EachChunk& f) {
  const InUse in_use(*this);
  std::vector<std::uint64_t> rows(layers.size());
  const Statement select = tables_.statement("SELECT id, chunk FROM {data} ORDER BY id");
  Execution run(select);
  while (run.step()) {
    const std::int64_t id = run.integer(0);
    const auto i = static_cast<std::uint64_t>(id);
    if (run.type(0) != SQLITE_INTEGER || id < 0 || i >= layers.chunk_count()) {
      throw_damaged(chunk_name(i) + " must not be there: the filter has " +
                    std::to_string(layers.chunk_count()));
    }
    f(i, sized_blob(run, 1, layers.chunk_bytes(i), [&] { return chunk_name(i); }));
    ++rows[layers.index_of(layers.layer_of(i))];
  }
  for (std::size_t layer = 0; layer < rows.size(); ++layer) {
    if (const std::uint64_t counted = counted_rows(layer); rows[layer] < counted) {
      throw_damaged("the filter lacks " + std::to_string(counted - rows[layer]) + " of " +
                    std::to_string(counted) + " chunks" + kRowsDeleted);
    }
  }
}

CountedVector<std::uint64_t> BloomStore::stored_chunks() {
  const InUse in_use(*this);
  const Statement select = tables_.statement("SELECT id FROM {data} ORDER BY id");
  CountedVector<std::uint64_t> chunks;
  Execution run(select);
  while (run.step()) {
    chunks.push_back(static_cast<std::uint64_t>(run.integer(0)));
  }
  return chunks;
}

// SQLite opens a savepoint for this statement, because it could write several rows and fail after
// the first.
void BloomStore::make_savepoints_known() {
  tables_.run("INSERT INTO {config} SELECT 'version', 1 WHERE 0");
}

std::string config_table(const std::string& table) { return table + "_config"; }

bool config_has_triggers(sqlite3* db, const std::string& table) {
  const Statement select(db, "SELECT 1 FROM " + sqlite::quoted_name(config_table(table)) +
                                 " WHERE k = 'triggers' AND v > 0");
  return Execution(select).step();
}

}  // namespace bloom
