// Every request for memory fails in turn, once and from then on until the statement ends. A
// statement whose request failed is to say so and to change nothing, the next one is to work, and
// no memory may be left over; a statement that can do without is to do what it always does.
//   memory_faults EXTENSION [EVERY]    every so-manieth request of a scenario; 1: all of them
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "tests/faults/allocator.h"
#include "tests/faults/reference.h"

namespace bloom::faults {
namespace {

constexpr char kMemory[] = ":memory:";

std::unique_ptr<Database> open() { return std::make_unique<Database>(kMemory); }

class Run {
 public:
  Run(const Reference& reference, long n, bool lasting)
      : reference_(reference), n_(n), lasting_(lasting) {}

  // Returns false when there are less than n requests.
  bool run();
  int faults() const { return faults_; }

 private:
  const Step& step() const { return reference_.steps()[i_]; }
  void expect(bool good, const std::string& what);
  void compare(const std::string& state, const std::string& wanted, const char* when);
  void after_success(const Outcome& outcome);
  void after_failure(const Outcome& outcome);

  const Reference& reference_;
  long n_;
  bool lasting_;
  std::unique_ptr<Database> db_ = open();
  std::size_t i_ = 0;
  int faults_ = 0;
};

void Run::expect(bool good, const std::string& what) {
  if (!good) {
    ++faults_;
    std::printf("%s, request %ld%s, at \"%s\": %s\n", reference_.name().c_str(), n_,
                lasting_ ? " and all after it" : "", step().sql.c_str(), what.c_str());
  }
}

void Run::compare(const std::string& state, const std::string& wanted, const char* when) {
  expect(state == wanted, std::string(when) + ": wanted\n" + wanted + "got\n" + state);
}

// A request that failed went unnoticed.
void Run::after_success(const Outcome& outcome) {
  // An error may have lost its words.
  expect(
      outcome == step().outcome || (!outcome.ok() && outcome.text == sqlite3_errstr(outcome.code)),
      "wanted " + step().outcome.text + ", got " + outcome.text);
  compare(db_->state(), step().state, "after success");
}

void Run::after_failure(const Outcome& outcome) {
  const bool loading = i_ == 0;  // the loader has words of its own
  expect(outcome.code == SQLITE_NOMEM || loading,
         "wanted SQLITE_NOMEM, got " + std::to_string(outcome.code) + ", " + outcome.text);
  std::size_t again = i_;
  std::string state = db_->state();
  const bool open_before = step().begin != i_;
  if (open_before && db_->in_transaction() && refuses(state)) {
    db_->run("ROLLBACK");
    state = db_->state();
  }
  if (open_before && !db_->in_transaction()) {
    again = step().begin;
  }
  compare(state, reference_.before(again), "after failure");
  for (; again <= i_; ++again) {
    const Step& repeated = reference_.steps()[again];
    const Outcome now = db_->run(repeated.sql);
    expect(now == repeated.outcome, "repeated, \"" + repeated.sql + "\" says " + now.text);
  }
  compare(db_->state(), step().state, "repeated");
}

bool Run::run() {
  bool failed = false;
  fail_request(n_, lasting_);
  for (i_ = 0; i_ < reference_.steps().size(); ++i_) {
    const Outcome outcome = db_->run(step().sql);
    if (failed || !has_failed()) {
      continue;
    }
    failed = true;
    stop_failing();
    outcome.code == step().outcome.code ? after_success(outcome) : after_failure(outcome);
  }
  stop_failing();
  return failed;
}

// Returns how many faults there were.
int try_all(const Reference& reference, bool lasting, long every) {
  int faults = 0;
  long n = 1;
  for (bool failed = true; failed; n += every) {
    const long before = in_use();
    {
      Run run(reference, n, lasting);
      failed = run.run();
      faults += run.faults();
    }
    if (in_use() != before) {
      ++faults;
      std::printf("%s, request %ld: %ld pieces of memory are left\n", reference.name().c_str(), n,
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
  for (const Scenario& scenario : scenarios(extension)) {
    const Reference reference(scenario, open);
    faults += try_all(reference, false, every) + try_all(reference, true, every);
  }
  return faults == 0 ? 0 : 1;
}

}  // namespace
}  // namespace bloom::faults

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "memory_faults EXTENSION [EVERY]\n");
    return 2;
  }
  return bloom::faults::main_of(arguments[1],
                                count > 2 ? std::strtol(arguments[2], nullptr, 10) : 1);
}
