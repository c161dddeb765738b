#include "core/layout/format.h"

#include <algorithm>
#include <cassert>

#include "core/hashing/hash.h"
#include "core/support/bytes.h"

namespace bloom {
namespace {

constexpr std::uint8_t kVersionWithoutCellChecksum = 1;
constexpr std::uint8_t kVersionWithCellChecksum = 2;
constexpr std::uint8_t kHashMurmur3 = 1;
constexpr std::uint32_t kChecksumSeed = 0;

enum HeaderOffset : std::size_t {
  kMagicAt = 0,
  kVersionAt = 4,
  kHashAt = 5,
  kKindAt = 6,
  kHashesAt = 7,
  kCellsAt = 8,
  kBlockAt = 16,
  kSeedAt = 24,
  kCollationAt = 28,
  kReserved3At = 29,
  kCapacityAt = 32,
  kFprAt = 40,
  kCellChecksumAt = 48,  // 0 in version 1
  kChecksumAt = 56,
};

std::uint64_t checksum(const std::uint8_t* header) {
  return hash_key({reinterpret_cast<const char*>(header), kChecksumAt}, kChecksumSeed).h1;
}

bool is_nonzero(std::uint8_t byte) { return byte != 0; }

HeaderBytes write_version(std::uint8_t version, const Header& header, std::uint64_t cell_checksum) {
  const Shape& shape = header.shape;
  assert(!broken_rule(shape));
  HeaderBytes bytes{};
  std::copy(kFilterMagic.begin(), kFilterMagic.end(), bytes.begin() + kMagicAt);
  bytes[kVersionAt] = version;
  bytes[kHashAt] = kHashMurmur3;
  bytes[kKindAt] = static_cast<std::uint8_t>(shape.kind);
  bytes[kHashesAt] = static_cast<std::uint8_t>(shape.hashes);
  store_le(&bytes[kCellsAt], shape.cells);
  store_le(&bytes[kBlockAt], shape.block);
  store_le(&bytes[kSeedAt], shape.seed);
  bytes[kCollationAt] = static_cast<std::uint8_t>(shape.collation);
  store_le(&bytes[kCapacityAt], header.capacity);
  store_le_double(&bytes[kFprAt], header.fpr);
  store_le(&bytes[kCellChecksumAt], cell_checksum);
  store_le(&bytes[kChecksumAt], checksum(bytes.data()));
  return bytes;
}

// Returns why `stored` does not start with a header of version 1 up to `latest` whose values this
// build knows, if so.
std::optional<Problem> problem_with_bytes(std::uint8_t latest, ByteView stored) {
  if (stored.size() < kHeaderBytes) {
    return Problem::foreign("a header has " + std::to_string(kHeaderBytes) + " bytes, got " +
                            std::to_string(stored.size()));
  }
  const std::uint8_t* bytes = stored.data();
  if (!may_be_filter(stored)) {
    return Problem::foreign("bad magic");
  }
  const std::uint8_t version = bytes[kVersionAt];
  if (version < kVersionWithoutCellChecksum || version > latest) {
    return Problem::foreign("unknown version " + std::to_string(version));
  }
  if (load_le<std::uint64_t>(bytes + kChecksumAt) != checksum(bytes)) {
    return Problem::damaged("header checksum does not match");
  }
  if (bytes[kHashAt] != kHashMurmur3) {
    return Problem::foreign("unknown hash " + std::to_string(bytes[kHashAt]));
  }
  const std::uint8_t kind = bytes[kKindAt];
  if (kind < static_cast<std::uint8_t>(Kind::standard) ||
      kind > static_cast<std::uint8_t>(Kind::partitioned)) {
    return Problem::foreign("unknown kind " + std::to_string(kind));
  }
  const std::uint8_t collation = bytes[kCollationAt];
  if (collation > static_cast<std::uint8_t>(Collation::rtrim)) {
    return Problem::foreign("unknown collation " + std::to_string(collation));
  }
  if (std::any_of(bytes + kReserved3At, bytes + kCapacityAt, is_nonzero) ||
      (version == kVersionWithoutCellChecksum &&
       std::any_of(bytes + kCellChecksumAt, bytes + kChecksumAt, is_nonzero))) {
    return Problem::foreign("reserved header bytes are in use");
  }
  return std::nullopt;
}

// Returns which values of a header contradict each other, if any.
std::optional<Problem> problem_with_values(const Header& header) {
  if (const auto broken = broken_rule(header.shape)) {
    return Problem::damaged(broken->subject + " must be " + broken->rule + ", is " + broken->value);
  }
  if (!(header.fpr >= 0 && header.fpr < 1) || header.capacity > kMaxCells) {
    return Problem::damaged("capacity or false-positive rate out of range");
  }
  return std::nullopt;
}

// Requires: !problem_with_bytes(latest version, bytes).
Header parse(const std::uint8_t* bytes) {
  assert(!problem_with_bytes(kVersionWithCellChecksum, {bytes, kHeaderBytes}));
  Header header;
  header.shape.kind = static_cast<Kind>(bytes[kKindAt]);
  header.shape.hashes = bytes[kHashesAt];
  header.shape.cells = load_le<std::uint64_t>(bytes + kCellsAt);
  header.shape.block = load_le<std::uint64_t>(bytes + kBlockAt);
  header.shape.seed = load_le<std::uint32_t>(bytes + kSeedAt);
  header.shape.collation = static_cast<Collation>(bytes[kCollationAt]);
  header.capacity = load_le<std::uint64_t>(bytes + kCapacityAt);
  header.fpr = load_le_double(bytes + kFprAt);
  return header;
}

std::variant<Header, Problem> read_up_to(std::uint8_t latest, ByteView stored) {
  if (auto problem = problem_with_bytes(latest, stored)) {
    return std::move(*problem);
  }
  const Header header = parse(stored.data());
  if (auto problem = problem_with_values(header)) {
    return std::move(*problem);
  }
  return header;
}

}  // namespace

std::uint64_t stored_bytes(const Shape& shape) { return kHeaderBytes + cell_bytes(shape); }

HeaderBytes write_header(const Header& header) {
  return write_version(kVersionWithoutCellChecksum, header, 0);
}

HeaderBytes write_filter_header(const Header& header, std::uint64_t cell_checksum) {
  return write_version(kVersionWithCellChecksum, header, cell_checksum);
}

std::variant<Header, Problem> read_header(ByteView stored) {
  return read_up_to(kVersionWithoutCellChecksum, stored);
}

std::variant<FilterHeader, Problem> read_filter_header(ByteView stored) {
  auto parsed = read_up_to(kVersionWithCellChecksum, stored);
  if (auto* problem = std::get_if<Problem>(&parsed)) {
    return std::move(*problem);
  }
  FilterHeader result{.header = std::get<Header>(parsed), .cell_checksum = std::nullopt};
  const Shape& shape = result.header.shape;
  if (stored.size() != stored_bytes(shape)) {
    return Problem::damaged(std::to_string(stored.size()) + " bytes where the header says " +
                            std::to_string(stored_bytes(shape)));
  }
  if ((stored.back() & padding_mask(shape)) != 0) {
    return Problem::damaged("bits after the last cell are set");
  }
  if (stored[kVersionAt] == kVersionWithCellChecksum) {
    result.cell_checksum = load_le<std::uint64_t>(&stored[kCellChecksumAt]);
  }
  return result;
}

bool has_same_header(ByteView stored, const HeaderBytes& known) {
  if (stored.size() < kHeaderBytes) {
    return false;
  }
  const auto differ = [&](std::size_t from, std::size_t to) {
    std::uint64_t bits = 0;
    for (; from < to; from += sizeof bits) {
      bits |= load_le<std::uint64_t>(&stored[from]) ^ load_le<std::uint64_t>(&known[from]);
    }
    return bits != 0;
  };
  if (differ(0, kCellChecksumAt)) {
    return false;
  }
  return !differ(kCellChecksumAt, kHeaderBytes) ||
         (stored[kVersionAt] == kVersionWithCellChecksum &&
          load_le<std::uint64_t>(&stored[kChecksumAt]) == checksum(stored.data()));
}

std::uint8_t padding_mask(const Shape& shape) {
  const std::uint64_t last_bits = shape.cells * bits_per_cell(shape.kind) % 8;
  return static_cast<std::uint8_t>(last_bits == 0 ? 0U : 0xffU << last_bits);
}

}  // namespace bloom
