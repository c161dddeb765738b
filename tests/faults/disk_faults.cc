// Each operation on the disk fails in turn, the disk is full, or the power is cut, with each
// journal mode. The work of a statement must be complete or absent, acknowledged work must survive,
// and nothing may be damaged.
//   disk_faults EXTENSION errors [EVERY]         only each EVERY-th operation of a scenario
//   disk_faults EXTENSION power [TIMES [SEED]]   SEED of the first; the next has SEED + 1
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/faults/arguments.h"
#include "tests/faults/disk.h"
#include "tests/faults/reference.h"

namespace bloom::faults {
namespace {

constexpr const char* kLog = "wal";
constexpr std::array kJournals = {"delete", "truncate", "persist", kLog};

// With a log, SQLite before this version can lose transactions of ordinary tables by itself: those
// with a ROLLBACK TO, after pages were written before the commit.
constexpr int kSpillsSafely = 3054000;

std::unique_ptr<Database> open(const char* journal) {
  auto db = std::make_unique<Database>("db", Disk::kVfs);
  db->run("PRAGMA synchronous = EXTRA");  // a weaker one need not keep what it has acknowledged
  db->run(std::string("PRAGMA journal_mode = ") + journal);
  if (journal != kLog || sqlite3_libversion_number() >= kSpillsSafely) {
    db->run("PRAGMA cache_size = 5");  // so that pages are written before the commit
  }
  return db;
}

// The scenario and journal mode of a run.
struct Setting {
  const Reference& reference;
  const std::string& extension;
  const char* journal;
};

class Run {
 public:
  explicit Run(const Setting& setting) : setting_(setting) {}

  // Returns false when there are less than n operations.
  bool with_error(long n, Fault fault, bool lasting);
  // At one of so many changes of the disk.
  void with_power_cut(long changes, unsigned long seed);
  int faults() const { return faults_; }

 private:
  const std::vector<Step>& steps() const { return setting_.reference.steps(); }
  const Step& step() const { return steps()[i_]; }
  const std::string& before(std::size_t i) const { return setting_.reference.before(i); }
  void expect(bool good, const std::string& what);
  void expect_state(const std::string& state, const char* when);
  void after_failure(Database& db);
  void reopened();

  Setting setting_;
  std::string disturbance_;
  std::size_t i_ = 0;
  int faults_ = 0;
};

void Run::expect(bool good, const std::string& what) {
  if (!good) {
    ++faults_;
    std::printf("%s, %s, %s, at \"%s\": %s\n", setting_.reference.name().c_str(), setting_.journal,
                disturbance_.c_str(), step().sql.c_str(), what.c_str());
  }
}

// As before the transaction, or, if the step that failed was to end it, as after it.
void Run::expect_state(const std::string& state, const char* when) {
  const std::string& old = before(step().begin);
  const bool good = state == old || (step().committed && state == step().state);
  expect(good, std::string(when) + ": wanted\n" + old +
                   (step().committed ? "or\n" + step().state : "") + "got\n" + state);
}

void Run::after_failure(Database& db) {
  std::string state = state_of(db);
  if (db.in_transaction()) {
    expect(has_error(state) || state == before(i_),
           "within the transaction: wanted\n" + before(i_) + "got\n" + state);
    db.run("ROLLBACK");
    state = state_of(db);
  }
  expect_state(state, "after failure");
}

void Run::reopened() {
  Database db("db", Disk::kVfs);
  db.load(setting_.extension);
  expect_state(state_of(db), "opened again");
  const std::string damage = damage_of(db);
  expect(damage.empty(), damage);
}

bool Run::with_error(long n, Fault fault, bool lasting) {
  Disk& disk = Disk::instance();
  disturbance_ = "operation " + std::to_string(n) + (fault == Fault::full ? " full" : " failing") +
                 (lasting ? ", lasting" : "");
  disk.erase();
  auto db = open(setting_.journal);
  disk.fail_operation(n, fault, lasting);
  for (i_ = 0; i_ < steps().size(); ++i_) {
    const Outcome outcome = run_step(*db, step().sql);
    if (!disk.has_failed()) {
      continue;
    }
    if (outcome.code != step().outcome.code) {
      disk.stop_failing();
      after_failure(*db);
      db.reset();
      reopened();
      return true;
    }
    expect(outcome == step().outcome, "wanted " + step().outcome.text + ", got " + outcome.text);
  }
  disk.stop_failing();
  return disk.has_failed();
}

void Run::with_power_cut(long changes, unsigned long seed) {
  Disk& disk = Disk::instance();
  std::mt19937_64 random(seed);
  const long n = 1 + static_cast<long>(random() % static_cast<unsigned long>(changes));
  disturbance_ = "power cut at change " + std::to_string(n) + ", seed " + std::to_string(seed);
  disk.erase();
  auto db = open(setting_.journal);
  disk.fail_operation(n, Fault::power, true);
  while (i_ + 1 < steps().size() && run_step(*db, step().sql).code == step().outcome.code) {
    ++i_;
  }
  db.reset();
  disk.stop_failing();
  disk.restart(random);
  reopened();
}

int try_errors(const Setting& setting, long every) {
  int faults = 0;
  long tried = 0;
  for (const Fault fault : {Fault::error, Fault::full}) {
    for (const bool lasting : {false, true}) {
      bool failed = true;
      for (long n = 1; failed; n += every) {
        Run run(setting);
        failed = run.with_error(n, fault, lasting);
        faults += run.faults();
        ++tried;
      }
    }
  }
  std::printf("%s, %s: %ld failures\n", setting.reference.name().c_str(), setting.journal, tried);
  return faults;
}

// How many changes of the disk a scenario makes.
long changes_of(const Setting& setting) {
  Disk& disk = Disk::instance();
  disk.erase();
  const auto db = open(setting.journal);
  disk.fail_operation(1L << 40, Fault::power, true);
  for (const Step& step : setting.reference.steps()) {
    run_step(*db, step.sql);
  }
  disk.stop_failing();
  return disk.operations();
}

int try_power_cuts(const Setting& setting, long times, unsigned long seed) {
  const long changes = changes_of(setting);
  int faults = 0;
  for (long i = 0; i < times; ++i) {
    Run run(setting);
    run.with_power_cut(changes, seed++);
    faults += run.faults();
  }
  std::printf("%s, %s: %ld power cuts in %ld changes\n", setting.reference.name().c_str(),
              setting.journal, times, changes);
  return faults;
}

int main_of(const std::string& extension, std::string_view what, long number, unsigned long seed) {
  int faults = 0;
  // Without FTS5: after an I/O error in one of its statements SQLite can roll the transaction back
  // and report another error, and the rows of ordinary tables are gone, too.
  for (const Scenario& scenario : scenarios(extension, false)) {
    for (const char* journal : kJournals) {
      Disk::instance().erase();
      const Reference reference(scenario, [&] { return open(journal); });
      const Setting setting{reference, extension, journal};
      faults +=
          what == "errors" ? try_errors(setting, number) : try_power_cuts(setting, number, seed);
    }
  }
  return faults == 0 ? 0 : 1;
}

}  // namespace
}  // namespace bloom::faults

int main(int count, char** values) {
  const bloom::faults::Arguments arguments(count, values, 2,
                                           "disk_faults EXTENSION errors|power [NUMBER [SEED]]");
  bloom::faults::Disk::instance();
  return bloom::faults::main_of(arguments.text(0), arguments.text(1), arguments.number(2, 1),
                                static_cast<unsigned long>(arguments.number(3, 1)));
}
