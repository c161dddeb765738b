// A scenario as it goes when nothing fails: what every step tells, and what the database then
// means.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/faults/scenario.h"
#include "tests/faults/state.h"

namespace bloom::faults {

struct Step {
  std::string sql;
  Outcome outcome;
  std::string state;  // after it
  std::size_t begin;  // the first step of the transaction that it is part of; or itself
  bool committed;     // no transaction is open after it
  std::vector<std::string> tables;  // ordinary ones, shadow tables among them, before it
};

class Reference {
 public:
  using Open = std::function<std::unique_ptr<Database>()>;  // of an empty database

  // Ends the program if a step does not do what it is to.
  Reference(const Scenario& scenario, const Open& open);

  const std::string& name() const { return name_; }
  const std::vector<Step>& steps() const { return steps_; }
  // What the database means before step i.
  const std::string& before(std::size_t i) const { return i == 0 ? empty_ : steps_[i - 1].state; }
  const std::vector<std::string>& tables_before(std::size_t i) const { return steps_[i].tables; }

 private:
  std::string name_;
  std::string empty_;
  std::vector<Step> steps_;
};

}  // namespace bloom::faults
