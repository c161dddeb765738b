// The change log of a bloom table whose source any program may write to (writers=any):
//
// <name>_pending(id INTEGER PRIMARY KEY, token, added, key1, ...), see SideTable
//
// Triggers in plain SQL append a row for each key that is added to the source or removed from it.
// `added` is a ChangeLog::Change. key1, ... are the values of the columns; for a removed key only a
// counting filter needs them. The command 'merge' moves the changes into the filter. Until then a
// lookup also reads the added keys of the log.
//
// While an announcement is neither void nor merged, a row may have a key that the log does not
// have: see SourceTriggers. Every lookup is then answered "maybe".
//
// A connection caches the added keys of the rows it has read, and reads only newer rows later. A
// rollback or a merge may meanwhile have removed rows, and new rows may have reused their ids. The
// connection detects this by the random tokens of some rows that it has read. If such a row is
// still there, all rows before it are unchanged, because neither a rollback nor a merge removes a
// row and keeps a newer one. The connection then reads the rows after it again. Keys of removed
// rows stay in the cache, as false positives, until they are as many as the others. The tokens come
// from randomblob(), because some applications replace random() by their own function.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/filter/filter.h"
#include "core/hashing/composite_key.h"
#include "core/layout/format.h"
#include "core/layout/shape.h"
#include "sql/sqlite/statement.h"

namespace bloom {

struct KeyForm;
struct SideTable;

// A set of keys in memory that has false positives but no false negatives. Uses 2.5 KB for up to
// 1,000 keys, and 2.5 to 15 bytes per key for more. A low FPR takes up to three times as much.
class KeySketch {
 public:
  // `fpr`: that of the filter to which the sketch belongs; 0: unknown.
  void add(Hash hash, double fpr);
  bool may_contain(Hash hash) const;
  // Returns the expected FPR with the keys that were added.
  double fpr() const;
  void clear();

 private:
  double next_fpr(double fpr) const;

  std::vector<Filter> filters_;  // each larger than the one before
  std::uint64_t free_keys_ = 0;  // keys that still fit into the last filter
};

class ChangeLog {
 public:
  static constexpr std::string_view kSuffix = "_pending";

  // The values of the column `added`.
  enum Change { kRemoved = 0, kAdded = 1, kAnnounced = 2, kVoid = 3 };

  ChangeLog(sqlite3* db, std::string schema, const std::string& table)
      : db_(db), schema_(std::move(schema)), name_(table + std::string(kSuffix)) {}

  // Functions that run SQL throw SqliteError: SQLITE_CORRUPT_VTAB if the log is not as it was made.

  // The log as SourceLink makes it, for keys of `columns` columns.
  static SideTable side_table(std::size_t columns);
  // Call when SourceLink renames the table.
  void rename(const std::string& table);

  // Sets the collations of the columns of a composite key. Reads the log again if they differ.
  void set_parts(const PartCollations& parts);

  // Call when the log may have changed since it was read last.
  void expire() { is_current_ = false; }
  // Returns whether the log may contain an added key with this hash. `header`: that of the newest
  // layer of the filter.
  bool may_contain(Hash hash, const Header& header) {
    return keys(header).may_contain(hash) || !announcements_.empty();
  }
  // Returns the FPR that may_contain() adds to that of the filter.
  double fpr(const Header& header) {
    const double fpr = keys(header).fpr();
    return announcements_.empty() ? fpr : 1;
  }
  // Returns whether an announcement is neither void nor merged.
  bool has_announcement() const;

  // Calls f(added, hash) for each added or removed key in order. The hash of a removed key is known
  // only to a counting filter. Also calls f once with noncanonical_marker() if an added key is a
  // text such as '05' (see is_noncanonical_number()).
  using EachChange = std::function<void(bool added, std::optional<Hash> hash)>;
  void for_each_change(const Shape& shape, const EachChange& f) const;
  // Returns the number of rows.
  std::uint64_t size() const;
  // Deletes all rows, apart from announcements if `keep` says so.
  enum class Keep { nothing, announcements };
  void clear(Keep keep = Keep::nothing);

 private:
  // A row of the log, recognized by its id and token.
  struct Position {
    std::int64_t id;
    std::vector<std::uint8_t> token;
    std::uint64_t keys_read;  // number of keys up to this row

    bool matches(const sqlite::Execution& row) const;
  };

  // What the definition of every log begins with, after the name.
  static constexpr std::string_view kColumns = "(id INTEGER PRIMARY KEY, token, added";

  std::string qualified() const;
  sqlite::Statement::FindDamage find_damage() const;
  std::string definition() const;
  std::string change_column_list() const;  // "added, key1, ..."
  const KeySketch& keys(const Header& header) {
    if (!is_current_) {
      read_new_rows(header);
    }
    return added_keys_;
  }
  void read_new_rows(const Header& header);
  bool read_from_last(const Header& header);
  void read_row(const sqlite::Execution& row, const KeyForm& form, double fpr);
  void keep_position(const Position& last);
  void forget_last();
  void forget();
  bool is_announcement(std::int64_t id);

  sqlite3* db_;
  std::string schema_;
  std::string name_;
  std::optional<sqlite::Statement> select_;
  std::optional<sqlite::Statement> select_change_;
  bool is_current_ = false;
  // Rows that were read, in ascending order. The last one was read last. Of the others, a position
  // stays the more rarely, the older it is.
  std::vector<Position> positions_;
  KeySketch added_keys_;
  std::uint64_t keys_read_ = 0;              // keys in added_keys_, without those of removed rows
  std::uint64_t lost_keys_ = 0;              // keys of removed rows in added_keys_
  std::vector<std::int64_t> announcements_;  // ids of those that are not void
  PartCollations parts_;
};

}  // namespace bloom
