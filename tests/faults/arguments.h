// The command line of a fault program.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace bloom::faults {

class Arguments {
 public:
  // Prints the usage and ends the program if there are fewer than `required` arguments.
  Arguments(int count, char** arguments, std::size_t required, const char* usage)
      : arguments_(arguments + 1, arguments + count) {
    if (arguments_.size() < required) {
      std::fprintf(stderr, "%s\n", usage);
      std::exit(2);
    }
  }

  // Arguments are counted from 0.
  const std::string& text(std::size_t i) const { return arguments_[i]; }
  long number(std::size_t i, long otherwise) const {
    return i < arguments_.size() ? std::strtol(arguments_[i].c_str(), nullptr, 10) : otherwise;
  }

 private:
  std::vector<std::string> arguments_;
};

}  // namespace bloom::faults
