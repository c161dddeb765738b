// malloc() and its kin, and mmap(), for the whole program: SQLite's memory, C++'s and the
// C library's. Any request that comes from within SQLite can be made to fail (see in_sqlite).
#pragma once

namespace bloom::faults {

// From now on the n-th request (from 1) fails, and those after it too if `lasting`.
void fail_request(long n, bool lasting);
// No more failures.
void stop_failing();
// Whether a request has failed since fail_request().
bool has_failed();

// How many pieces of memory are in use.
long in_use();

}  // namespace bloom::faults
