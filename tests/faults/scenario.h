// Statements that between them use every function and everything that a bloom table does.
#pragma once

#include <string>
#include <vector>

namespace bloom::faults {

// What a step begins with that loads an extension; its file follows.
inline const std::string kLoad = ".load ";
// What a step begins with that is refused, faults or not.
inline const std::string kRefusedStep = "/* refused */ ";

struct Scenario {
  std::string name;
  std::vector<std::string> steps;  // the first loads the extension
};

// All keys are 'k0', 'k1', ...; so many are asked for when states are compared.
constexpr int kKeys = 400;

// `full_text`: with an FTS5 table beside the bloom tables, where SQLite has it.
std::vector<Scenario> scenarios(const std::string& extension, bool full_text);

}  // namespace bloom::faults
