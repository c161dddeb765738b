// Halves the filter that is stored in the chunks of a bloom table, chunk by chunk.
#pragma once

#include "core/layout/shape.h"
#include "sql/bloom_table/paged/bloom_store.h"

namespace bloom {

// Replaces the chunks of a filter of this shape by those of the halved filter (core/layout/
// halving.h). Its time depends on the number of stored chunks, not on the size of the filter.
// Throws what BloomStore throws; some chunks may then be replaced and others not. Requires: the
// shape can be halved, and the chunks are not damaged.
void halve_stored_chunks(BloomStore& store, const Shape& shape);

}  // namespace bloom
