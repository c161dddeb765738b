#include "tests/faults/disturbed_run.h"

#include <cstdio>

namespace bloom::faults {
namespace {

class Run {
 public:
  Run(const Reference& reference, Disturbance& disturbance)
      : reference_(reference), disturbance_(disturbance), db_(disturbance.open()) {}

  RunResult run();

 private:
  const Step& step() const { return reference_.steps()[i_]; }
  void expect(bool good, const std::string& what);
  void compare(const std::string& state, const std::string& wanted, const char* when);
  void after_success(const Outcome& outcome);
  bool is_complete(const std::string& state) const;
  void after_failure(const Outcome& outcome);

  const Reference& reference_;
  Disturbance& disturbance_;
  std::unique_ptr<Database> db_;
  std::size_t i_ = 0;
  bool was_in_transaction_ = false;  // before the step
  std::string disturbed_step_;
  int faults_ = 0;
};

void Run::expect(bool good, const std::string& what) {
  if (!good) {
    ++faults_;
    std::printf("%s, %s, disturbed \"%s\", at \"%s\": %s\n", reference_.name().c_str(),
                disturbance_.name().c_str(), disturbed_step_.c_str(), step().sql.c_str(),
                what.c_str());
  }
}

void Run::compare(const std::string& state, const std::string& wanted, const char* when) {
  expect(state == wanted, std::string(when) + ": wanted\n" + wanted + "got\n" + state);
}

// The disturbance made no difference.
void Run::after_success(const Outcome& outcome) {
  // An error may have lost its words.
  expect(
      outcome == step().outcome || (!outcome.ok() && outcome.text == sqlite3_errstr(outcome.code)),
      "wanted " + step().outcome.text + ", got " + outcome.text);
  compare(state_of(*db_), step().state, "after success");
}

// Whether the statement that failed has done its work. Of SAVEPOINT and RELEASE it does not show:
// SAVEPOINT can be repeated, and COMMIT does what RELEASE did not.
bool Run::is_complete(const std::string& state) const {
  return disturbance_.may_come_too_late() && state == step().state &&
         db_->in_transaction() != step().committed &&
         (state != reference_.before(i_) || was_in_transaction_ == step().committed ||
          step().sql.starts_with("RELEASE"));
}

void Run::after_failure(const Outcome& outcome) {
  const bool loading = i_ == 0;  // the loader has words of its own
  expect(disturbance_.explains(outcome) || loading,
         "got code " + std::to_string(outcome.code) + ", " + outcome.text);
  std::size_t again = i_;
  std::string state = state_of(*db_);
  if (is_complete(state)) {
    return;
  }
  const bool open_before = step().begin != i_;
  if (open_before && db_->in_transaction() && has_error(state)) {
    db_->run("ROLLBACK");
    state = state_of(*db_);
  }
  if (open_before && !db_->in_transaction()) {
    again = step().begin;
  }
  compare(state, reference_.before(again), "after failure");
  for (; again <= i_; ++again) {
    const Step& repeated = reference_.steps()[again];
    const Outcome now = run_step(*db_, repeated.sql);
    expect(now == repeated.outcome, "repeated, \"" + repeated.sql + "\" says " + now.text);
  }
  compare(state_of(*db_), step().state, "repeated");
}

RunResult Run::run() {
  bool disturbed = false;
  for (i_ = 0; i_ < reference_.steps().size(); ++i_) {
    if (!disturbed) {
      disturbance_.before_step(*db_, i_);
    }
    was_in_transaction_ = db_->in_transaction();
    const Outcome outcome = run_step(*db_, step().sql);
    if (disturbed) {
      // What the last failure left behind must not show later.
      expect(outcome == step().outcome,
             "later: wanted " + step().outcome.text + ", got " + outcome.text);
      continue;
    }
    if (!disturbance_.has_happened()) {
      continue;
    }
    disturbed = true;
    disturbed_step_ = step().sql;
    disturbance_.end();
    outcome.code == step().outcome.code ? after_success(outcome) : after_failure(outcome);
  }
  disturbance_.end();
  i_ = reference_.steps().size() - 1;
  compare(state_of(*db_), step().state, "at the end");
  return {disturbed, faults_};
}

}  // namespace

RunResult run_disturbed(const Reference& reference, Disturbance& disturbance) {
  return Run(reference, disturbance).run();
}

}  // namespace bloom::faults
