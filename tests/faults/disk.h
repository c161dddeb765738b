// An SQLite VFS on a disk in memory, for one connection at a time: every operation can be made to
// fail, and when the power is cut, of what was written but not synced only a part is on the disk.
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace bloom::faults {

enum class Fault {
  error,  // SQLITE_IOERR of the kind that fits the operation; of a lock SQLITE_BUSY
  full,   // SQLITE_FULL, of writes alone
  power,  // from a change of the disk on (write, sync, truncation, removal) everything fails
};

class Disk {
 public:
  static constexpr char kVfs[] = "disk";
  static constexpr std::size_t kSector = 512;  // bytes

  // The only one, registered as kVfs.
  static Disk& instance();

  // From now on the n-th operation (from 1) of those that can have the fault fails, and, if
  // `lasting`, so do those after it.
  void fail_operation(long n, Fault fault, bool lasting);
  void stop_failing() { failing_ = 0; }
  // Since fail_operation(): whether an operation failed, and how many could.
  bool has_failed() const { return failed_; }
  long operations() const { return asked_; }

  // The power is back: of what was not synced there is what `random` chooses, down to sectors.
  void restart(std::mt19937_64& random);
  void erase() { now_ = synced_ = {}; }

 private:
  friend class DiskFile;
  friend class DiskVfs;
  enum class Operation { open, read, write, truncate, sync, size, lock, remove, access, shared };

  struct Change {
    std::size_t offset;
    std::vector<std::uint8_t> bytes;  // none: the file ends at offset
  };
  struct Content {
    std::vector<std::uint8_t> now;
    std::vector<std::uint8_t> synced;
    std::vector<Change> since;  // made `now` of `synced`
    std::vector<std::vector<std::uint8_t>> shared;

    void apply(const Change& change);
    void change(Change change);
    void restart(std::mt19937_64& random);
  };
  using Files = std::map<std::string, std::shared_ptr<Content>>;

  Disk();
  // What the operation is to return.
  int attempt(Operation operation);
  bool can_fail(Operation operation) const;

  Files now_;
  Files synced_;
  long failing_ = 0;
  Fault fault_ = Fault::error;
  bool lasting_ = false;
  long asked_ = 0;
  bool failed_ = false;
};

}  // namespace bloom::faults
