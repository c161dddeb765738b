#include "tests/fuzz/database.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/input.h"

extern "C" int sqlite3_bloom_init(sqlite3* db, char** error, const sqlite3_api_routines* api);

namespace bloom::fuzz {
namespace {

constexpr int kLongestValue = 1 << 20;
constexpr sqlite3_int64 kMostMemory = 256 << 20;
constexpr int kStepsOfTick = 1000;

// SQLite calls the entry point for each new connection, with its own table of functions.
int prepare_sqlite() {
  sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
  sqlite3_initialize();
  sqlite3_hard_heap_limit64(kMostMemory);
  return sqlite3_auto_extension(reinterpret_cast<void (*)()>(sqlite3_bloom_init));
}

// Small objects of the connection: much quicker than the sanitizer's malloc().
void give_lookaside(sqlite3* db) {
  constexpr int kSize = 1200;
  constexpr int kCount = 1000;
  alignas(8) static std::array<std::uint8_t, std::size_t{kSize} * kCount> memory;
  const int code = sqlite3_db_config(db, SQLITE_DBCONFIG_LOOKASIDE, memory.data(), kSize, kCount);
  require(code == SQLITE_OK, "two databases at a time");
}

}  // namespace

Database::Database() {
  static const int prepared = prepare_sqlite();
  require(prepared == SQLITE_OK, "the extension cannot be linked");
  used_before_ = sqlite3_memory_used();
  const int code =
      sqlite3_open_v2(":memory:", &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  require(code == SQLITE_OK, "a database cannot be opened");
  give_lookaside(db_);
  sqlite3_extended_result_codes(db_, 1);
  sqlite3_limit(db_, SQLITE_LIMIT_LENGTH, kLongestValue);
}

Database::~Database() {
  require(sqlite3_close(db_) == SQLITE_OK, "the connection is still used");
  require(sqlite3_memory_used() == used_before_, "memory that SQLite gave was not given back");
}

int Database::run(const std::string& sql) {
  return sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
}

void Database::must_run(const std::string& sql) {
  const int code = run(sql);
  require(code == SQLITE_OK, sql + "\n  failed: " + error());
}

std::string Database::image() const {
  sqlite3_int64 size = 0;
  unsigned char* const bytes = sqlite3_serialize(db_, "main", &size, 0);
  std::string image(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  return image;
}

void Database::restore(std::string_view image) {
  const auto size = static_cast<sqlite3_int64>(image.size());
  auto* const bytes = static_cast<unsigned char*>(sqlite3_malloc64(image.size()));
  std::copy(image.begin(), image.end(), bytes);
  const int code =
      sqlite3_deserialize(db_, "main", bytes, size, size,
                          SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
  require(code == SQLITE_OK, "a database cannot be restored");
}

void Database::allow_steps(int steps) {
  ticks_ = steps / kStepsOfTick;
  const auto tick = [](void* left) { return --*static_cast<int*>(left) < 0 ? 1 : 0; };
  sqlite3_progress_handler(db_, kStepsOfTick, tick, &ticks_);
}

Statement::Statement(const Database& database, const std::string& sql) {
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

bool is_refusal(int code) {
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
