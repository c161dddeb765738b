// malloc() and its kin, and mmap(), for the whole program: SQLite's memory, C++'s and the
// C library's. Any request that comes from within SQLite can be made to fail (see in_sqlite).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bloom::faults {

// From now on the n-th request (from 1) fails, and those after it too if `lasting`.
void fail_request(long n, bool lasting);
// No more failures.
void stop_failing();
// Whether a request has failed since fail_request().
bool has_failed();

// From now on notes which calls within the library `of` lead to each request. Equal numbers stand
// for equal calls, and 0 for none.
void note_sites(const std::string& of);
// The sites of the requests since note_sites(), and no more notes.
std::vector<std::uint64_t> noted_sites();

// How many pieces of memory are in use.
long in_use();

}  // namespace bloom::faults
