#include "tests/faults/reference.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace bloom::faults {

Reference::Reference(const Scenario& scenario, const Open& open) : name_(scenario.name) {
  const auto db = open();
  empty_ = state_of(*db);
  std::size_t begin = 0;
  for (const std::string& sql : scenario.steps) {
    if (!db->in_transaction()) {
      begin = steps_.size();
    }
    std::vector<std::string> tables = stored_tables(*db);
    Outcome outcome = run_step(*db, sql);
    if (outcome.ok() == sql.starts_with(kRefusedStep)) {
      std::fprintf(stderr, "%s: %s\n%s\n", name_.c_str(), sql.c_str(), outcome.text.c_str());
      std::exit(2);
    }
    steps_.push_back(
        {sql, std::move(outcome), state_of(*db), begin, !db->in_transaction(), std::move(tables)});
  }
}

}  // namespace bloom::faults
