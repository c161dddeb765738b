// The checksum of the cells of a stored filter. It detects damage: flipped bits, and pages that
// were lost, exchanged or overwritten. It does not protect against forgery.
//
// The checksum is the hash of a sum of 128-bit products. Each pair of 64-bit words (a, b) adds the
// product of a + key and b + (key rotated by 32 bits) (NH: J. Black, S. Halevi, H. Krawczyk, T.
// Krovetz, P. Rogaway, 1999). The keys are the powers of a multiplier. If they were in an
// arithmetic progression, exchanged pages of a nearly empty filter could have the same checksum.
// docs/format.md specifies the checksum.
//
// It takes two multiplications per 16 bytes, which is about as fast as reading the cells from main
// memory.
#pragma once

#include <cstdint>

#include "core/support/interrupt_check.h"

namespace bloom {

// Returns the checksum of `bytes` bytes of cells. Throws what `check_interrupt` throws.
std::uint64_t checksum_of_cells(const std::uint8_t* cells, std::uint64_t bytes,
                                const InterruptCheck& check_interrupt = {});

}  // namespace bloom
