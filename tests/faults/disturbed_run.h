// A scenario that is disturbed once. The statement that was disturbed must fail and change nothing,
// or do what it always does; the statements after it must work.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "tests/faults/reference.h"
#include "tests/faults/state.h"

namespace bloom::faults {

class Disturbance {
 public:
  Disturbance() = default;
  Disturbance(const Disturbance&) = delete;
  Disturbance& operator=(const Disturbance&) = delete;
  virtual ~Disturbance() = default;

  virtual std::string name() const = 0;
  // Whether a statement that is disturbed may fail like this.
  virtual bool explains(const Outcome& outcome) const = 0;
  // Whether the statement may have done all of its work, although it reports that it failed.
  virtual bool may_come_too_late() const { return false; }
  // An empty database.
  virtual std::unique_ptr<Database> open() = 0;
  // Before each step until has_happened().
  virtual void before_step(Database& db, std::size_t step) = 0;
  virtual bool has_happened() const = 0;
  // No disturbance from now on. May be called more than once.
  virtual void end() = 0;
};

struct RunResult {
  bool was_disturbed;  // false when the scenario ended before that
  int faults;          // each was printed
};

RunResult run_disturbed(const Reference& reference, Disturbance& disturbance);

}  // namespace bloom::faults
