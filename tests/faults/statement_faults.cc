// A statement is interrupted at each instruction of SQLite's virtual machine in turn; or another
// connection, which shares the cache, holds a lock on one table while the statement runs.
//   statement_faults EXTENSION interrupts [EVERY]    only each EVERY-th instruction; default: 1
//   statement_faults EXTENSION locks [EVERY]         only each EVERY-th pair of a step and a table
#include <cstdio>
#include <string_view>
#include <utility>

#include "tests/faults/arguments.h"
#include "tests/faults/disturbed_run.h"

namespace bloom::faults {
namespace {

// Each of its connections shares one cache, as long as one of them is open.
constexpr char kShared[] = "file:faults?mode=memory&cache=shared";

std::unique_ptr<Database> open_memory() { return std::make_unique<Database>(":memory:"); }
std::unique_ptr<Database> open_shared() { return std::make_unique<Database>(kShared); }

class Interrupt : public Disturbance {
 public:
  // At the n-th instruction of all steps, from 1.
  explicit Interrupt(long n) : left_(n), n_(n) {}

  std::string name() const override { return "interrupt at instruction " + std::to_string(n_); }
  // ALTER TABLE says which trigger it was checking instead.
  bool explains(const Outcome& outcome) const override {
    return outcome.code == SQLITE_INTERRUPT || outcome.text.starts_with("error in trigger");
  }
  // SQLite looks for interrupts once more after it has committed a statement.
  bool may_come_too_late() const override { return true; }
  std::unique_ptr<Database> open() override { return open_memory(); }
  void before_step(Database& db, std::size_t) override {
    db_ = &db;
    sqlite3_progress_handler(
        db.get(), 1,
        [](void* self) { return static_cast<int>(--static_cast<Interrupt*>(self)->left_ == 0); },
        this);
  }
  bool has_happened() const override { return left_ <= 0; }
  void end() override { sqlite3_progress_handler(db_->get(), 0, nullptr, nullptr); }

 private:
  long left_;
  long n_;
  Database* db_ = nullptr;
};

class Lock : public Disturbance {
 public:
  // On `table` during `step`.
  Lock(std::size_t step, std::string table) : step_(step), table_(std::move(table)) {}

  std::string name() const override { return "a lock on " + table_; }
  bool explains(const Outcome& outcome) const override { return outcome.code == SQLITE_LOCKED; }
  std::unique_ptr<Database> open() override {
    other_ = open_shared();
    return open_shared();
  }
  // Reads nothing where the table is locked by this transaction itself.
  void before_step(Database&, std::size_t step) override {
    if (step == step_) {
      other_->run("BEGIN");
      other_->run("SELECT count(*) FROM \"" + table_ + "\"");
      locked_ = true;
    }
  }
  bool has_happened() const override { return locked_; }
  void end() override {
    if (other_ != nullptr && other_->in_transaction()) {
      other_->run("COMMIT");
    }
  }

 private:
  std::size_t step_;
  std::string table_;
  std::unique_ptr<Database> other_;
  bool locked_ = false;
};

int try_interrupts(const Scenario& scenario, long every) {
  const Reference reference(scenario, open_memory);
  int faults = 0;
  long n = 1;
  for (bool disturbed = true; disturbed; n += every) {
    Interrupt interrupt(n);
    const RunResult result = run_disturbed(reference, interrupt);
    disturbed = result.was_disturbed;
    faults += result.faults;
  }
  std::printf("%s: %ld interrupts\n", scenario.name.c_str(), n / every);
  return faults;
}

int try_locks(const Scenario& scenario, long every) {
  const Reference reference(scenario, open_shared);
  int faults = 0;
  long tried = 0;
  long number = 0;
  for (std::size_t step = 1; step < reference.steps().size(); ++step) {
    for (const std::string& table : reference.tables_before(step)) {
      if (number++ % every == 0) {
        Lock lock(step, table);
        faults += run_disturbed(reference, lock).faults;
        ++tried;
      }
    }
  }
  std::printf("%s: %ld locks\n", scenario.name.c_str(), tried);
  return faults;
}

int main_of(const std::string& extension, std::string_view what, long every) {
  sqlite3_config(SQLITE_CONFIG_URI, 1);
  int faults = 0;
  for (const Scenario& scenario : scenarios(extension, true)) {
    faults += what == "locks" ? try_locks(scenario, every) : try_interrupts(scenario, every);
  }
  return faults == 0 ? 0 : 1;
}

}  // namespace
}  // namespace bloom::faults

int main(int count, char** values) {
  const bloom::faults::Arguments arguments(count, values, 2,
                                           "statement_faults EXTENSION interrupts|locks [EVERY]");
  return bloom::faults::main_of(arguments.text(0), arguments.text(1), arguments.number(2, 1));
}
