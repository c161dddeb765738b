// Threads with one connection each to one file: writers, readers, one that changes the schema and
// one that runs checkpoints. No committed key may be answered "absent". ThreadSanitizer checks the
// data that the connections of a process share.
//   threads EXTENSION [SECONDS]    5
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/faults/arguments.h"
#include "tests/faults/state.h"

namespace bloom::faults {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWriters = 2;
constexpr int kReaders = 2;

class World {
 public:
  World(std::string extension, const std::string& journal, Clock::duration time);
  // Returns how many faults there were.
  int run();

 private:
  void write(int writer);
  void read(unsigned seed);
  void change_schema();
  void checkpoint();
  void ask(Database& db, int writer, long i);
  // A statement that others may keep from running now; retried until the end. Returns whether it
  // ran.
  bool persist(Database& db, const std::string& sql);
  bool is_over() const { return Clock::now() > end_; }
  void fault(const std::string& what);
  std::unique_ptr<Database> connect();

  std::string extension_;
  std::string folder_;
  std::string file_;
  Clock::time_point end_;
  std::array<std::atomic<long>, kWriters> committed_{};
  std::atomic<int> faults_ = 0;
};

std::string key(int writer, long i) {
  std::string key("'");
  return key.append(std::to_string(writer)).append(".").append(std::to_string(i)).append("'");
}

// Others are writing, or have changed the schema meanwhile.
bool will_pass(const Outcome& outcome) {
  const int code = outcome.code & 0xff;
  return code == SQLITE_BUSY || code == SQLITE_LOCKED || code == SQLITE_SCHEMA;
}

// Not named by the process: a folder of an earlier process may be left.
std::string new_folder() {
  std::string name = std::filesystem::temp_directory_path() / "bloom.XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    std::perror("mkdtemp");
    std::exit(2);
  }
  return name;
}

World::World(std::string extension, const std::string& journal, Clock::duration time)
    : extension_(std::move(extension)),
      folder_(new_folder()),
      file_(folder_ + "/db"),
      end_(Clock::now() + time) {
  const auto db = connect();
  for (const std::string& sql :
       {"PRAGMA journal_mode = " + journal, std::string("CREATE TABLE s(k)"),
        std::string("CREATE TABLE other(x)"),
        std::string("CREATE VIRTUAL TABLE sized USING bloom(capacity=2000000, cache=65536)"),
        std::string("CREATE VIRTUAL TABLE growing USING bloom"),
        std::string("CREATE VIRTUAL TABLE following USING bloom(source=s, column=k)")}) {
    if (const Outcome outcome = run_step(*db, sql); !outcome.ok()) {
      fault(sql + ": " + outcome.text);
    }
  }
}

std::unique_ptr<Database> World::connect() {
  auto db = std::make_unique<Database>(file_);
  sqlite3_busy_timeout(db->get(), 10'000);
  db->load(extension_);
  db->run("PRAGMA synchronous = OFF");
  return db;
}

void World::fault(const std::string& what) {
  ++faults_;
  std::fprintf(stderr, "%s\n", what.c_str());
}

bool World::persist(Database& db, const std::string& sql) {
  while (true) {
    const Outcome outcome = db.run(sql);
    if (outcome.ok()) {
      return true;
    }
    if (!will_pass(outcome)) {
      fault(sql + ": " + outcome.text);
      return false;
    }
    if (is_over()) {
      return false;
    }
  }
}

void World::write(int writer) {
  const auto db = connect();
  for (long i = 0; !is_over(); ++i) {
    if (!persist(*db, "BEGIN IMMEDIATE")) {
      return;
    }
    for (const char* into : {"sized(key)", "growing(key)", "s(k)"}) {
      persist(*db, std::string("INSERT INTO ").append(into).append(" SELECT ") + key(writer, i));
    }
    if (!persist(*db, "COMMIT")) {
      return;
    }
    committed_[static_cast<std::size_t>(writer)] = i + 1;
  }
}

void World::ask(Database& db, int writer, long i) {
  for (const char* table : {"sized", "growing", "following"}) {
    const std::string sql =
        std::string("SELECT 1 FROM ") + table + " WHERE key = " + key(writer, i);
    const Outcome outcome = db.run(sql);
    if (outcome.ok() ? outcome.text.empty() : !will_pass(outcome)) {
      fault(sql + ": " + (outcome.ok() ? "absent" : outcome.text));
    }
  }
}

void World::read(unsigned seed) {
  const auto db = connect();
  for (unsigned long turn = seed; !is_over(); ++turn) {
    const int writer = static_cast<int>(turn % kWriters);
    const long count = committed_[static_cast<std::size_t>(writer)];
    if (count > 0) {
      ask(*db, writer, static_cast<long>(turn * 2654435761U % static_cast<unsigned long>(count)));
    }
    const Outcome opened = db->run(
        "SELECT bloom_contains((SELECT bloom_open(bloom_build(7, 100))), 7), bloom_version()");
    if (!opened.text.starts_with("1|")) {
      fault("bloom_open: " + opened.text);
    }
    if (turn % 50 == 0) {
      persist(*db, "SELECT info FROM growing");
    }
  }
}

void World::change_schema() {
  while (!is_over()) {
    const auto db = connect();
    persist(*db, "CREATE VIRTUAL TABLE passing USING bloom(source=s, column=k)");
    persist(*db, "ALTER TABLE other RENAME TO another");
    persist(*db, "ALTER TABLE another RENAME TO other");
    persist(*db, "INSERT INTO following(following) VALUES ('rebuild')");
    persist(*db, "DROP TABLE IF EXISTS passing");
  }
}

void World::checkpoint() {
  const auto db = connect();
  while (!is_over()) {
    persist(*db, "PRAGMA wal_checkpoint(TRUNCATE)");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

int World::run() {
  {
    std::vector<std::thread> threads;
    threads.reserve(kWriters + kReaders + 2);
    for (int i = 0; i < kWriters; ++i) {
      threads.emplace_back([this, i] { write(i); });
    }
    for (unsigned i = 0; i < kReaders; ++i) {
      threads.emplace_back([this, i] { read(i); });
    }
    threads.emplace_back([this] { change_schema(); });
    threads.emplace_back([this] { checkpoint(); });
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
  const auto db = connect();
  long total = 0;
  for (int writer = 0; writer < kWriters; ++writer) {
    const long count = committed_[static_cast<std::size_t>(writer)];
    for (long i = 0; i < count; ++i) {
      ask(*db, writer, i);
    }
    total += count;
  }
  if (const std::string damage = damage_of(*db); !damage.empty()) {
    fault(damage);
  }
  std::printf("%ld transactions of %d writers, %d faults\n", total, kWriters, faults_.load());
  std::filesystem::remove_all(folder_);
  return faults_;
}

}  // namespace
}  // namespace bloom::faults

int main(int count, char** values) {
  const bloom::faults::Arguments arguments(count, values, 1, "threads EXTENSION [SECONDS]");
  const std::chrono::seconds time(arguments.number(1, 5));
  int faults = 0;
  for (const char* journal : {"delete", "wal"}) {
    faults += bloom::faults::World(arguments.text(0), journal, time / 2).run();
  }
  return faults == 0 ? 0 : 1;
}
