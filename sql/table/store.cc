#include "sql/table/store.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>
#include <variant>

#include "core/layout/chunk_layout.h"
#include "core/sizing/growth.h"
#include "core/support/error.h"
#include "sql/sqlite/guard.h"
#include "sql/sqlite/sql_text.h"
#include "sql/table/damage.h"

namespace bloom {
namespace {

using sqlite::Execution;
using sqlite::KeepLastRowid;
using sqlite::quoted_name;
using sqlite::Statement;

// A table has a version that older programs refuse if it has a feature that they would handle
// wrongly:
// - Change log: they would answer "absent" for keys that are only in the log.
// - Generations: they would add keys to the last layer, which is not always the newest.
// - Counted rows: they would delete rows without lowering the counts. Tables with counted rows have
//   the version of their other features plus kCountedRows.
constexpr std::int64_t kTableVersion = 1;
constexpr std::int64_t kTableVersionWithLog = 2;
constexpr std::int64_t kTableVersionWithGenerations = 3;
constexpr std::int64_t kCountedRows = 3;
constexpr std::int64_t kMaxStale = kMaxCells;  // larger stored values of Config::stale are clamped
constexpr std::string_view kStoreTables[] = {"config", "data"};
constexpr char kRowsDeleted[] =
    ": another program has deleted rows (restore a backup; or run 'rebuild', or 'clear' and add "
    "the keys again)";

constexpr std::string_view kCountPrefix = "rows ";

std::string count_name(std::size_t layer) {
  return std::string(kCountPrefix) + std::to_string(layer);
}
std::string chunk_name(std::uint64_t i) { return "chunk " + std::to_string(i); }

Layers parse_headers(ByteView bytes) {
  if (bytes.size() > kMaxLayers * kHeaderBytes) {
    damaged("the config has more layers than " + std::to_string(kMaxLayers));
  }
  Layers layers;
  do {
    const auto header = read_header(bytes);
    if (const auto* problem = std::get_if<Problem>(&header)) {
      damaged("the header in the config is damaged (" + problem->text + ")");
    }
    layers.append(std::get<Header>(header));
    const Shape& first = layers.oldest().header.shape;
    const Shape& shape = layers.newest().header.shape;
    if (shape.kind != first.kind || shape.seed != first.seed ||
        shape.collation != first.collation) {
      damaged("the layers in the config differ in kind, seed or collation");
    }
    bytes = bytes.subspan(kHeaderBytes);
  } while (!bytes.empty());
  return layers;
}

Layers as_generations(const Layers& layers, std::optional<std::int64_t> newest) {
  const std::vector<Header> headers = layers.headers();
  if (std::adjacent_find(headers.begin(), headers.end(), std::not_equal_to<>()) != headers.end()) {
    damaged("the generations in the config have different headers");
  }
  if (!newest || *newest < 0 || static_cast<std::uint64_t>(*newest) >= headers.size()) {
    damaged("the config does not say which generation is the newest");
  }
  return Layers::generations(headers.front(), headers.size(), static_cast<std::size_t>(*newest));
}

std::int64_t version_of(const Config& config) {
  const std::int64_t counted = config.counts_rows ? kCountedRows : 0;
  if (config.layers.are_generations()) {
    return kTableVersionWithGenerations + counted;
  }
  return (config.has_log() ? kTableVersionWithLog : kTableVersion) + counted;
}

void require_known(std::optional<std::int64_t> version) {
  if (!version) {
    damaged("the config has no version");
  }
  if (*version < kTableVersion || *version > kTableVersionWithGenerations + kCountedRows) {
    throw Error(Error::Kind::invalid, "the table is of version " + std::to_string(*version) +
                                          ", which this build does not know");
  }
}

}  // namespace

// The scope of a statement on the shadow tables. Refuses reentry: see in_use_.
class Store::InUse {
 public:
  explicit InUse(Store& store) : store_(store) {
    if (store.in_use_) {
      damaged("its shadow tables must not use the table itself");
    }
    store.in_use_ = true;
  }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;
  ~InUse() { store_.in_use_ = false; }

 private:
  Store& store_;
};

Store::Store(sqlite3* db, std::string schema, std::string table)
    : db_(db),
      is_main_(schema == "main"),
      tables_(db, std::move(schema), std::move(table), kStoreTables) {}

bool Store::is_shadow(std::string_view suffix) {
  return ShadowTables::contains(kStoreTables, suffix);
}

void Store::create(const Config& config) {
  tables_.create("{config}(k PRIMARY KEY, v) WITHOUT ROWID");
  tables_.create("{data}(id INTEGER PRIMARY KEY, chunk BLOB)");
  save_config(config);
}

// A missing row or a value of the wrong type is damage for `version` and `header`, for `newest` in
// a table with generations, and for the counts in a table with counted rows. Other rows may be
// missing.
Config Store::load_config() {
  const InUse in_use(*this);
  Config config;
  std::optional<std::int64_t> version;
  std::optional<std::int64_t> newest;
  std::size_t counts = 0;
  Execution run(
      tables_.prepared("SELECT k, v FROM {config} WHERE k IN ('version', 'header', 'newest', "
                       "'merged', 'stale', 'triggers', 'guard', 'missed') OR k GLOB 'rows *'"));
  while (run.step()) {
    const std::string_view name = run.value(0).text();
    if (name == "version" && run.type(1) == SQLITE_INTEGER) {
      version = run.integer(1);
    } else if (name == "header" && run.type(1) == SQLITE_BLOB) {
      config.layers = parse_headers(run.blob(1));
    } else if (name == "newest" && run.type(1) == SQLITE_INTEGER) {
      newest = run.integer(1);
    } else if (name.starts_with(kCountPrefix) && run.type(1) == SQLITE_INTEGER) {
      ++counts;
    } else if (name == "merged") {
      config.merged = true;
    } else if (name == "stale") {
      config.stale =
          static_cast<std::uint64_t>(std::clamp<std::int64_t>(run.integer(1), 0, kMaxStale));
    } else if (name == "triggers") {
      config.trigger_version = static_cast<std::uint64_t>(run.integer(1));
    } else if (name == "guard" && run.type(1) == SQLITE_TEXT) {
      config.guard_index = run.value(1).text();
    } else if (name == "missed" && run.type(1) == SQLITE_TEXT) {
      config.blocking_trigger = run.value(1).text();
    }
  }
  require_known(version);
  if (config.layers.empty()) {
    damaged("the config has no header");
  }
  config.counts_rows = *version > kCountedRows;
  if (*version - (config.counts_rows ? kCountedRows : 0) == kTableVersionWithGenerations) {
    config.layers = as_generations(config.layers, newest);
  }
  if (config.counts_rows && counts < config.layers.size()) {
    damaged("the config does not say how many chunks each layer has");
  }
  return config;
}

std::string load_guard(sqlite3* db, const std::string& schema, const std::string& config_table) {
  for (const char* column : {"k", "v"}) {
    if (sqlite3_table_column_metadata(db, schema.c_str(), config_table.c_str(), column, nullptr,
                                      nullptr, nullptr, nullptr, nullptr) != SQLITE_OK) {
      return "";
    }
  }
  const Statement select(db,
                         "SELECT v FROM " + quoted_name(schema) + "." + quoted_name(config_table) +
                             " WHERE k = 'guard'",
                         kSchemaDamaged);
  Execution run(select);
  return run.step() && run.type(0) == SQLITE_TEXT ? std::string(run.value(0).text()) : "";
}

void Store::save_config(const Config& config) {
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
  save_number("merged", config.merged ? 1 : 0);
  save_number("stale", config.stale);
  save_number("triggers", config.trigger_version);
  save_text("guard", config.guard_index);
  save_text("missed", config.blocking_trigger);
}

void Store::note_stale_key() {
  const InUse in_use(*this);
  ++writes_;
  Execution(tables_.prepared(
                "INSERT INTO {config} VALUES ('stale', 1) ON CONFLICT(k) DO UPDATE SET v = v + 1"))
      .step();
}

bool Store::load_chunk(std::uint64_t i, std::span<std::uint8_t> cells) {
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

void Store::insert_chunk(std::uint64_t i, std::span<const std::uint8_t> cells) {
  if (!insert_or_ignore(i, cells)) {
    damaged(chunk_name(i) + " is there already");
  }
}

bool Store::insert_empty_chunk(std::uint64_t i, std::size_t size) {
  const std::array<std::uint8_t, kChunkBytes> empty{};
  return insert_or_ignore(i, std::span(empty).first(size));
}

bool Store::insert_or_ignore(std::uint64_t i, std::span<const std::uint8_t> cells) {
  const InUse in_use(*this);
  const KeepLastRowid keep(db_);
  const Statement& insert = tables_.prepared("INSERT OR IGNORE INTO {data} VALUES (?1, ?2)");
  Execution(insert).bind(1, static_cast<std::int64_t>(i)).bind(2, cells).step();
  const bool inserted = sqlite3_changes(db_) != 0;
  writes_ += inserted ? 1 : 0;
  return inserted;
}

std::uint64_t Store::counted_rows(std::size_t layer) {
  Execution run(tables_.prepared("SELECT v FROM {config} WHERE k = ?1"));
  const std::string name = count_name(layer);
  return run.bind(1, name).step() ? static_cast<std::uint64_t>(run.integer(0)) : 0;
}

void Store::require_row_not_deleted(std::uint64_t i, const Layers& layers) {
  const InUse in_use(*this);
  const Layers::Layer& layer = layers.layer_of(i);
  if (counted_rows(layers.index_of(layer)) == chunk_count(layer.header.shape)) {
    damaged(chunk_name(i) + " is missing" + kRowsDeleted);
  }
}

void Store::raise_count(std::size_t layer, std::uint64_t rows) {
  const InUse in_use(*this);
  ++writes_;
  const std::string name = count_name(layer);
  Execution(tables_.prepared("UPDATE {config} SET v = v + ?1 WHERE k = ?2"))
      .bind(1, static_cast<std::int64_t>(rows))
      .bind(2, name)
      .step();
}

void Store::reset_counts() {
  const InUse in_use(*this);
  ++writes_;
  tables_.run("UPDATE {config} SET v = 0 WHERE k GLOB 'rows *'");
}

void Store::count_rows_of_single_layer() {
  const InUse in_use(*this);
  ++writes_;
  tables_.run("UPDATE {config} SET v = (SELECT count(*) FROM {data}) WHERE k = '" + count_name(0) +
              "'");
}

void ChunkWriter::write(std::uint64_t i, std::span<const std::uint8_t> cells) {
  const Store::InUse in_use(store_);
  ++store_.writes_;
  if (row_.open(static_cast<std::int64_t>(i)) != cells.size()) {
    damaged(chunk_name(i) + " has changed its size");
  }
  row_.write(0, cells);
}

void Store::delete_chunk(std::uint64_t i) {
  const InUse in_use(*this);
  tables_.run("DELETE FROM {data} WHERE id = " + std::to_string(i));
  ++writes_;
}

void Store::delete_chunks_from(std::uint64_t i) {
  const InUse in_use(*this);
  tables_.run("DELETE FROM {data}" +
              (i == 0 ? std::string() : " WHERE id >= " + std::to_string(i)));
  ++writes_;
}

void Store::delete_layer(const Layers& layers, std::size_t layer) {
  const InUse in_use(*this);
  const std::uint64_t first = layers.all()[layer].first_chunk;
  const std::uint64_t end = first + chunk_count(layers.all()[layer].header.shape);
  tables_.run("UPDATE {config} SET v = 0 WHERE k = '" + count_name(layer) + "'");
  tables_.run("DELETE FROM {data} WHERE id >= " + std::to_string(first) + " AND id < " +
              std::to_string(end));
  ++writes_;
}

void Store::for_each_chunk(const Layers& layers, const EachChunk& f) {
  const InUse in_use(*this);
  std::vector<std::uint64_t> rows(layers.size());
  const Statement select = tables_.statement("SELECT id, chunk FROM {data} ORDER BY id");
  Execution run(select);
  while (run.step()) {
    const std::int64_t id = run.integer(0);
    const auto i = static_cast<std::uint64_t>(id);
    if (run.type(0) != SQLITE_INTEGER || id < 0 || i >= layers.chunk_count()) {
      damaged(chunk_name(i) + " must not be there: the filter has " +
              std::to_string(layers.chunk_count()));
    }
    f(i, sized_blob(run, 1, layers.chunk_bytes(i), [&] { return chunk_name(i); }));
    ++rows[layers.index_of(layers.layer_of(i))];
  }
  for (std::size_t layer = 0; layer < rows.size(); ++layer) {
    if (const std::uint64_t counted = counted_rows(layer); rows[layer] < counted) {
      damaged("the filter lacks " + std::to_string(counted - rows[layer]) + " of " +
              std::to_string(counted) + " chunks" + kRowsDeleted);
    }
  }
}

std::vector<std::uint64_t> Store::stored_chunks() {
  const InUse in_use(*this);
  const Statement select = tables_.statement("SELECT id FROM {data} ORDER BY id");
  std::vector<std::uint64_t> chunks;
  Execution run(select);
  while (run.step()) {
    chunks.push_back(static_cast<std::uint64_t>(run.integer(0)));
  }
  return chunks;
}

std::optional<unsigned> Store::data_version() const {
  unsigned version = 0;
  const int code = sqlite3_file_control(db_, schema_or_null(), SQLITE_FCNTL_DATA_VERSION, &version);
  return code == SQLITE_OK ? std::optional(version) : std::nullopt;
}

// SQLite opens a savepoint for this statement, because it could write several rows and fail after
// the first.
void Store::announce_savepoints() {
  tables_.run("INSERT INTO {config} SELECT 'version', 1 WHERE 0");
}

}  // namespace bloom
