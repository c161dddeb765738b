// Each request for memory fails in turn, once or until the statement ends. No memory may leak.
//   memory_faults EXTENSION [EVERY]    only each EVERY-th request of a scenario, and the first of
//   each
//                                      place in the extension that asks for memory; default: 1
#include <cstdio>
#include <unordered_set>

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

class Sites : public Disturbance {
 public:
  explicit Sites(std::string library) : library_(std::move(library)) {}

  std::string name() const override { return "nothing"; }
  bool explains(const Outcome&) const override { return false; }
  std::unique_ptr<Database> open() override { return faults::open(); }
  void before_step(Database&, std::size_t step) override {
    if (step == 0) {
      note_sites(library_);
    }
  }
  bool has_happened() const override { return false; }
  void end() override {}

 private:
  std::string library_;
};

using SiteSet = std::unordered_set<std::uint64_t>;

struct Requests {
  std::vector<long> regular;  // each n-th
  std::vector<long> all;      // also those of sites that were not tried before
};

// Adds the sites of the chosen requests to `tried`.
Requests choose_requests(const Reference& reference, const std::string& library, long every,
                         SiteSet& tried) {
  Sites sites(library);
  run_disturbed(reference, sites);
  Requests chosen;
  long n = 0;
  for (const std::uint64_t site : noted_sites()) {
    const bool is_regular = n++ % every == 0;
    const bool is_new = tried.insert(site).second && site != 0;
    if (is_regular) {
      chosen.regular.push_back(n);
    }
    if (is_regular || is_new) {
      chosen.all.push_back(n);
    }
  }
  return chosen;
}

// Returns how many faults there were.
int try_all(const Reference& reference, const std::vector<long>& requests, bool lasting) {
  int faults = 0;
  for (const long n : requests) {
    const long before = in_use();
    NoMemory no_memory(n, lasting);
    faults += run_disturbed(reference, no_memory).faults;
    if (in_use() != before) {
      ++faults;
      std::printf("%s, request %ld: %ld allocations leaked\n", reference.name().c_str(), n,
                  in_use() - before);
    }
  }
  std::printf("%s: %zu requests%s\n", reference.name().c_str(), requests.size(),
              lasting ? ", lasting" : "");
  return faults;
}

int main_of(const std::string& extension, long every) {
  sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
  sqlite3_initialize();
  int faults = 0;
  SiteSet tried;
  for (const Scenario& scenario : scenarios(extension, true)) {
    const Reference reference(scenario, open);
    const Requests requests = choose_requests(reference, extension, every, tried);
    faults += try_all(reference, requests.all, false) + try_all(reference, requests.regular, true);
  }
  return faults == 0 ? 0 : 1;
}

}  // namespace
}  // namespace bloom::faults

int main(int count, char** values) {
  const bloom::faults::Arguments arguments(count, values, 1, "memory_faults EXTENSION [EVERY]");
  return bloom::faults::main_of(arguments.text(0), arguments.number(1, 1));
}
