// The core without SQLite: one program writes a filter, and another one reads it.
//   core_example FILE KEY...   looks up each KEY in the filter in FILE; if FILE does not exist,
//                              first creates it with three keys

#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

#include "core/filter/filter.h"
#include "core/operations/estimate.h"
#include "core/sizing/sizing.h"

namespace {

void write_example(const char* path) {
  bloom::Filter filter(bloom::size_filter(1000, 0.01, bloom::Kind::standard));
  for (const char* key : {"apple", "pear", "42"}) {
    filter.add(filter.hash(key));
  }
  const bloom::ByteView stored = filter.stored();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(stored.data()),
             static_cast<std::streamsize>(stored.size()));
}

std::vector<std::uint8_t> read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape): ends the program
  if (argc < 2) {
    std::cerr << "usage: core_example FILE KEY...\n";
    return 2;
  }
  if (!std::ifstream(argv[1])) {
    write_example(argv[1]);
  }
  const std::vector<std::uint8_t> stored = read_file(argv[1]);
  const auto opened = bloom::open_filter(stored);
  if (const auto* problem = std::get_if<bloom::Problem>(&opened)) {
    std::cerr << argv[1] << ": " << problem->text << '\n';
    return 1;
  }
  const auto& filter = std::get<bloom::FilterView>(opened);
  std::cout << "about " << bloom::estimate(filter).keys << " keys in " << stored.size()
            << " bytes\n";
  for (int i = 2; i < argc; ++i) {
    const bool maybe = filter.may_contain(filter.hash(argv[i]));
    std::cout << argv[i] << ": " << (maybe ? "maybe" : "no") << '\n';
  }
  return 0;
}
