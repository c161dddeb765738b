// Each request for memory fails in turn, once or until the statement ends. No memory may leak.
//   memory_faults EXTENSION [EVERY]    only each EVERY-th request of a scenario; default: 1
#include <cstdio>

#include "tests/faults/allocator.h"
#include "tests/faults/arguments.h"
#include "tests/faults/disturbed_run.h"

namespace bloom::faults {
namespace {

std::unique_ptr<Database> open() { return std::make_unique<Database>(":memory:"); }

class NoMemory : public Disturbance {
 public:
  // The n-th request fails, from 1.
  NoMemory(long n, bool lasting) : n_(n), lasting_(lasting) {}

  std::string name() const override {
    return "request " + std::to_string(n_) + (lasting_ ? " and all after it" : "");
  }
  // Where sqlite3_exec() has no memory for the columns of a row while SQLite reads the schema, it
  // returns what sqlite3_step() returned last.
  bool explains(const Outcome& outcome) const override {
    return outcome.code == SQLITE_NOMEM || outcome.code == SQLITE_ROW;
  }
  std::unique_ptr<Database> open() override { return faults::open(); }
  void before_step(Database&, std::size_t step) override {
    if (step == 0) {
      fail_request(n_, lasting_);
    }
  }
  bool has_happened() const override { return has_failed(); }
  void end() override { stop_failing(); }

 private:
  long n_;
  bool lasting_;
};

// Returns how many faults there were.
int try_all(const Reference& reference, bool lasting, long every) {
  int faults = 0;
  long n = 1;
  for (bool disturbed = true; disturbed; n += every) {
    const long before = in_use();
    NoMemory no_memory(n, lasting);
    const RunResult result = run_disturbed(reference, no_memory);
    disturbed = result.was_disturbed;
    faults += result.faults;
    if (in_use() != before) {
      ++faults;
      std::printf("%s, request %ld: %ld allocations leaked\n", reference.name().c_str(), n,
                  in_use() - before);
    }
  }
  std::printf("%s: %ld requests%s\n", reference.name().c_str(), n / every,
              lasting ? ", lasting" : "");
  return faults;
}

int main_of(const std::string& extension, long every) {
  sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
  sqlite3_initialize();
  int faults = 0;
  for (const Scenario& scenario : scenarios(extension, true)) {
    const Reference reference(scenario, open);
    faults += try_all(reference, false, every) + try_all(reference, true, every);
  }
  return faults == 0 ? 0 : 1;
}

}  // namespace
}  // namespace bloom::faults

int main(int count, char** values) {
  const bloom::faults::Arguments arguments(count, values, 1, "memory_faults EXTENSION [EVERY]");
  return bloom::faults::main_of(arguments.text(0), arguments.number(1, 1));
}
