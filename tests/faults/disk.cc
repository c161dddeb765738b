#include "tests/faults/disk.h"

#include <algorithm>
#include <array>
#include <utility>

namespace bloom::faults {
namespace {

void resize_and_copy(std::vector<std::uint8_t>& to, std::size_t offset,
                     const std::vector<std::uint8_t>& bytes) {
  to.resize(std::max(to.size(), offset + bytes.size()));
  std::copy(bytes.begin(), bytes.end(), to.begin() + static_cast<std::ptrdiff_t>(offset));
}

}  // namespace

void Disk::Content::apply(const Change& change) {
  if (change.bytes.empty()) {
    now.resize(std::min(now.size(), change.offset));
  } else {
    resize_and_copy(now, change.offset, change.bytes);
  }
}

void Disk::Content::change(Change change) {
  apply(change);
  since.push_back(std::move(change));
}

// Everything, nothing or any sectors of what was not synced may have reached the disk.
void Disk::Content::restart(std::mt19937_64& random) {
  const double share = std::array{0.0, 0.2, 0.8, 1.0}[random() % 4];
  std::bernoulli_distribution arrived(share);
  now = synced;
  for (const Change& change : std::exchange(since, {})) {
    if (change.bytes.empty()) {
      if (arrived(random)) {
        apply(change);
      }
      continue;
    }
    for (std::size_t from = 0; from < change.bytes.size();) {
      const std::size_t end_of_sector = kSector - (change.offset + from) % kSector;
      const std::size_t to = std::min(change.bytes.size(), from + end_of_sector);
      if (arrived(random)) {
        apply({change.offset + from,
               {change.bytes.begin() + static_cast<std::ptrdiff_t>(from),
                change.bytes.begin() + static_cast<std::ptrdiff_t>(to)}});
      }
      from = to;
    }
  }
  synced = now;
  shared.clear();
}

void Disk::fail_operation(long n, Fault fault, bool lasting) {
  failing_ = n;
  fault_ = fault;
  lasting_ = lasting;
  asked_ = 0;
  failed_ = false;
}

bool Disk::can_fail(Operation operation) const {
  switch (fault_) {
    case Fault::error:
      return true;
    case Fault::full:
      return operation == Operation::write;
    case Fault::power:
      return failed_ || operation == Operation::write || operation == Operation::truncate ||
             operation == Operation::sync || operation == Operation::remove;
  }
  return false;
}

int Disk::attempt(Operation operation) {
  if (failing_ == 0 || !can_fail(operation)) {
    return SQLITE_OK;
  }
  ++asked_;
  if (lasting_ ? asked_ < failing_ : asked_ != failing_) {
    return SQLITE_OK;
  }
  failed_ = true;
  if (fault_ == Fault::full) {
    return SQLITE_FULL;
  }
  switch (operation) {
    case Operation::open:
      return SQLITE_CANTOPEN;
    case Operation::read:
      return SQLITE_IOERR_READ;
    case Operation::write:
      return SQLITE_IOERR_WRITE;
    case Operation::truncate:
      return SQLITE_IOERR_TRUNCATE;
    case Operation::sync:
      return SQLITE_IOERR_FSYNC;
    case Operation::size:
      return SQLITE_IOERR_FSTAT;
    case Operation::lock:
      return fault_ == Fault::power ? SQLITE_IOERR_LOCK : SQLITE_BUSY;
    case Operation::remove:
      return SQLITE_IOERR_DELETE;
    case Operation::access:
      return SQLITE_IOERR_ACCESS;
    case Operation::shared:
      return SQLITE_IOERR_SHMMAP;
  }
  return SQLITE_IOERR;
}

void Disk::restart(std::mt19937_64& random) {
  // New files and removals of which the folder was not synced may be there or not.
  Files found;
  for (const Files* files : {&now_, &synced_}) {
    const Files& others = files == &now_ ? synced_ : now_;
    for (const auto& [name, content] : *files) {
      const auto other = others.find(name);
      if ((other != others.end() && other->second == content) || random() % 2 == 0) {
        found[name] = content;
      }
    }
  }
  for (const auto& [name, content] : found) {
    content->restart(random);
  }
  now_ = synced_ = std::move(found);
}

}  // namespace bloom::faults
