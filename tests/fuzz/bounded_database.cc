#include "tests/fuzz/bounded_database.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/input.h"

extern "C" int sqlite3_bloom_init(sqlite3* db, char** error, const sqlite3_api_routines* api);

namespace bloom::fuzz {
namespace {

constexpr int kMaxValue = 1 << 20;
constexpr sqlite3_int64 kMaxMemory = 256 << 20;
constexpr int kStepsPerTick = 1000;

// SQLite calls the entry point for each new connection, with its own table of functions.
int prepare_sqlite() {
  sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
  sqlite3_initialize();
  sqlite3_hard_heap_limit64(kMaxMemory);
  return sqlite3_auto_extension(reinterpret_cast<void (*)()>(sqlite3_bloom_init));
}

// Lookaside memory for small objects: much faster than the malloc() of the sanitizer.
void give_lookaside(sqlite3* db) {
  constexpr int kSize = 1200;
  constexpr int kCount = 1000;
  alignas(8) static std::array<std::uint8_t, std::size_t{kSize} * kCount> memory;
  const int code = sqlite3_db_config(db, SQLITE_DBCONFIG_LOOKASIDE, memory.data(), kSize, kCount);
  require(code == SQLITE_OK, "two databases at a time");
}

}  // namespace

MemoryBalance::MemoryBalance() {
  static const int prepared = prepare_sqlite();
  require(prepared == SQLITE_OK, "the extension cannot be linked");
  used_before_ = sqlite3_memory_used();
}

MemoryBalance::~MemoryBalance() {
  require(sqlite3_memory_used() == used_before_, "the connection did not return all of its memory");
}

BoundedDatabase::BoundedDatabase() : Database(":memory:") {
  give_lookaside(get());
  sqlite3_extended_result_codes(get(), 1);
  sqlite3_limit(get(), SQLITE_LIMIT_LENGTH, kMaxValue);
}

void BoundedDatabase::must_execute(const std::string& script) {
  const int code = execute(script);
  require(code == SQLITE_OK, script + "\n  failed: " + error());
}

std::string BoundedDatabase::image() const {
  sqlite3_int64 size = 0;
  unsigned char* const bytes = sqlite3_serialize(get(), "main", &size, 0);
  std::string image(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  return image;
}

void BoundedDatabase::restore(std::string_view image) {
  const auto size = static_cast<sqlite3_int64>(image.size());
  auto* const bytes = static_cast<unsigned char*>(sqlite3_malloc64(image.size()));
  std::copy(image.begin(), image.end(), bytes);
  const int code =
      sqlite3_deserialize(get(), "main", bytes, size, size,
                          SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
  require(code == SQLITE_OK, "a database cannot be restored");
}

void BoundedDatabase::limit_steps(int steps) {
  ticks_ = steps / kStepsPerTick;
  const auto tick = [](void* left) { return --*static_cast<int*>(left) < 0 ? 1 : 0; };
  sqlite3_progress_handler(get(), kStepsPerTick, tick, &ticks_);
}

Statement::Statement(const BoundedDatabase& database, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v3(database.get(), sql.c_str(), static_cast<int>(sql.size()),
                     SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  statement_.reset(statement);
}

Statement& Statement::bind(int parameter, std::span<const std::uint8_t> blob) {
  sqlite3_bind_blob(statement_.get(), parameter, blob.empty() ? nullptr : blob.data(),
                    static_cast<int>(blob.size()), SQLITE_STATIC);
  if (blob.empty()) {
    sqlite3_bind_zeroblob(statement_.get(), parameter, 0);
  }
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
  sqlite3_bind_text(statement_.get(), parameter, text.data(), static_cast<int>(text.size()),
                    SQLITE_STATIC);
  return *this;
}

Statement& Statement::bind(int parameter, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), parameter, value);
  return *this;
}

Statement& Statement::bind(int parameter, const sqlite3_value* value) {
  sqlite3_bind_value(statement_.get(), parameter, value);
  return *this;
}

std::string_view Statement::text(int column) {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  return {bytes == nullptr ? "" : bytes,
          static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

bool is_expected_error(int code) {
  switch (code & 0xff) {
    case SQLITE_ERROR:
    case SQLITE_CORRUPT:
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG:
    case SQLITE_ABORT:
    case SQLITE_INTERRUPT:
      return true;
    default:
      return false;
  }
}

}  // namespace bloom::fuzz
