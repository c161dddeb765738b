// What SQLite calls: files and file system, as methods of a Disk.

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "tests/faults/disk.h"

namespace bloom::faults {

// The methods of an open file.
class DiskFile : public sqlite3_file {
 public:
  DiskFile(Disk& disk, std::string name, std::shared_ptr<Disk::Content> content)
      : sqlite3_file{&kMethods},
        disk_(disk),
        name_(std::move(name)),
        content_(std::move(content)) {}

 private:
  using Operation = Disk::Operation;

  static DiskFile& of(sqlite3_file* file) { return static_cast<DiskFile&>(*file); }

  static int close(sqlite3_file* file) {
    of(file).~DiskFile();
    return SQLITE_OK;
  }

  static int read(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
    if (const int code = of(file).disk_.attempt(Operation::read); code != SQLITE_OK) {
      return code;
    }
    const auto& bytes = of(file).content_->now;
    const std::size_t from = std::min(bytes.size(), static_cast<std::size_t>(offset));
    const std::size_t count = std::min(bytes.size() - from, static_cast<std::size_t>(size));
    std::memset(to, 0, static_cast<std::size_t>(size));
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(from), count,
                static_cast<std::uint8_t*>(to));
    return count == static_cast<std::size_t>(size) ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
  }

  // Makes the change also when the power is cut: some of it may reach the disk.
  int change(Operation operation, std::size_t offset, std::vector<std::uint8_t> bytes) {
    const int code = disk_.attempt(operation);
    if (code == SQLITE_OK || (disk_.fault_ == Fault::power && disk_.asked_ == disk_.failing_)) {
      content_->change({offset, std::move(bytes)});
    }
    return code;
  }

  static int write(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
    const auto* bytes = static_cast<const std::uint8_t*>(from);
    return of(file).change(Operation::write, static_cast<std::size_t>(offset),
                           {bytes, bytes + size});
  }

  static int truncate(sqlite3_file* file, sqlite3_int64 size) {
    return of(file).change(Operation::truncate, static_cast<std::size_t>(size), {});
  }

  static int sync(sqlite3_file* file, int) {
    DiskFile& self = of(file);
    const int code = self.disk_.attempt(Operation::sync);
    if (code == SQLITE_OK) {
      self.content_->synced = self.content_->now;
      self.content_->since.clear();
      if (self.disk_.now_.contains(self.name_)) {
        self.disk_.synced_[self.name_] = self.content_;
      }
    }
    return code;
  }

  static int size(sqlite3_file* file, sqlite3_int64* size) {
    *size = static_cast<sqlite3_int64>(of(file).content_->now.size());
    return of(file).disk_.attempt(Operation::size);
  }

  static int lock(sqlite3_file* file, int) { return of(file).disk_.attempt(Operation::lock); }
  static int unlock(sqlite3_file*, int) { return SQLITE_OK; }
  static int is_reserved(sqlite3_file* file, int* reserved) {
    *reserved = 0;
    return of(file).disk_.attempt(Operation::lock);
  }
  static int control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
  static int sector_size(sqlite3_file*) { return static_cast<int>(Disk::kSector); }
  static int characteristics(sqlite3_file*) { return 0; }

  static int shared_map(sqlite3_file* file, int region, int size, int extend,
                        void volatile** memory) {
    *memory = nullptr;
    auto& shared = of(file).content_->shared;
    const auto wanted = static_cast<std::size_t>(region) + 1;
    if (shared.size() < wanted && extend != 0) {
      if (const int code = of(file).disk_.attempt(Operation::shared); code != SQLITE_OK) {
        return code;
      }
      shared.resize(wanted, std::vector<std::uint8_t>(static_cast<std::size_t>(size)));
    }
    if (shared.size() >= wanted) {
      *memory = shared[wanted - 1].data();
    }
    return SQLITE_OK;
  }
  static int shared_lock(sqlite3_file* file, int, int, int flags) {
    const bool unlocks = (flags & SQLITE_SHM_UNLOCK) != 0;
    return unlocks ? SQLITE_OK : of(file).disk_.attempt(Operation::lock);
  }
  static void shared_barrier(sqlite3_file*) {}
  static int shared_unmap(sqlite3_file* file, int remove) {
    if (remove != 0) {
      of(file).content_->shared.clear();
    }
    return SQLITE_OK;
  }

  static constexpr sqlite3_io_methods kMethods = {2,
                                                  close,
                                                  read,
                                                  write,
                                                  truncate,
                                                  sync,
                                                  size,
                                                  lock,
                                                  unlock,
                                                  is_reserved,
                                                  control,
                                                  sector_size,
                                                  characteristics,
                                                  shared_map,
                                                  shared_lock,
                                                  shared_barrier,
                                                  shared_unmap,
                                                  nullptr,
                                                  nullptr};

  Disk& disk_;
  std::string name_;
  std::shared_ptr<Disk::Content> content_;
};

// The methods of the file system; what has nothing to do with files is the system's own.
class DiskVfs {
 public:
  static void add() {
    static sqlite3_vfs vfs = *sqlite3_vfs_find(nullptr);
    vfs.zName = Disk::kVfs;
    vfs.szOsFile = sizeof(DiskFile);
    vfs.xOpen = open;
    vfs.xDelete = remove;
    vfs.xAccess = access;
    vfs.xFullPathname = full_name;
    sqlite3_vfs_register(&vfs, 0);
  }

 private:
  using Operation = Disk::Operation;

  static int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* flags_out) {
    file->pMethods = nullptr;
    Disk& disk = Disk::instance();
    if (const int code = disk.attempt(Operation::open); code != SQLITE_OK) {
      return code;
    }
    auto content = std::make_shared<Disk::Content>();
    if (name != nullptr) {
      const auto found = disk.now_.find(name);
      if (found == disk.now_.end() && (flags & SQLITE_OPEN_CREATE) == 0) {
        return SQLITE_CANTOPEN;
      }
      content = disk.now_.emplace(name, content).first->second;
    }
    new (file) DiskFile(disk, name != nullptr ? name : "", std::move(content));
    if (flags_out != nullptr) {
      *flags_out = flags;
    }
    return SQLITE_OK;
  }

  static int remove(sqlite3_vfs*, const char* name, int sync) {
    Disk& disk = Disk::instance();
    if (const int code = disk.attempt(Operation::remove); code != SQLITE_OK) {
      return code;
    }
    if (disk.now_.erase(name) == 0) {
      return SQLITE_IOERR_DELETE_NOENT;
    }
    if (sync != 0) {
      disk.synced_.erase(name);
    }
    return SQLITE_OK;
  }

  static int access(sqlite3_vfs*, const char* name, int, int* there) {
    Disk& disk = Disk::instance();
    *there = disk.now_.contains(name) ? 1 : 0;
    return disk.attempt(Operation::access);
  }

  static int full_name(sqlite3_vfs*, const char* name, int size, char* full) {
    sqlite3_snprintf(size, full, "%s", name);
    return SQLITE_OK;
  }
};

Disk::Disk() { DiskVfs::add(); }

Disk& Disk::instance() {
  static Disk disk;
  return disk;
}

}  // namespace bloom::faults
