// The change log of a bloom table: the added keys of sql/source/change_log.h as hashes.
//
// While an UPDATE is announced and not finished, every lookup is answered "maybe". The keys of rows
// that a rollback has removed stay in memory as false positives. When there are 1,000 more of them
// than of other keys, the log is read again. When the source loses a key, the log has a row
// only for a counting filter.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/filter/filter.h"
#include "core/hashing/composite_key.h"
#include "core/layout/format.h"
#include "core/layout/shape.h"
#include "sql/source/change_log.h"

namespace bloom {

// A set of keys in memory that has false positives but no false negatives. Uses 2.5 KB for up to
// 1,000 keys, and 2.5 to 15 bytes per key for more. A low FPR takes up to five times as much.
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

class BloomChangeLog : public ChangeLog {
 public:
  using ChangeLog::ChangeLog;

  // Sets the collations of the columns of a composite key. Reads the log again if they differ.
  void set_parts(const PartCollations& parts);

  // Returns whether the log may contain an added key with this hash. `header`: that of the newest
  // layer of the filter.
  bool may_contain(Hash hash, const Header& header) {
    return keys(header).may_contain(hash) || knows_announcement();
  }
  // As above, but reads at most 64 new rows. Returns nullopt if there are more, and those that were
  // read do not have the key.
  std::optional<bool> may_contain_so_far(Hash hash, const Header& header) {
    constexpr std::uint64_t kRowsAtOnce = 64;
    header_ = header;
    const bool is_complete = read_new_rows(kRowsAtOnce);
    const bool found = added_keys_.may_contain(hash) || knows_announcement();
    return found || is_complete ? std::optional(found) : std::nullopt;
  }
  // Returns the FPR that may_contain() adds to that of the filter.
  double fpr(const Header& header) {
    const double fpr = keys(header).fpr();
    return knows_announcement() ? 1 : fpr;
  }

  // Calls f(added, hash) for each added, announced or removed key in order. A log of earlier
  // versions also has removals from other than counting filters, without a hash. Also calls f once
  // with noncanonical_marker() if an added key is a text such as '05' (see
  // is_noncanonical_number()).
  using EachChange = std::function<void(bool added, std::optional<Hash> hash)>;
  void for_each_change(const Shape& shape, const EachChange& f) const;

 private:
  const KeySketch& keys(const Header& header) {
    header_ = header;
    read_new_rows();
    return added_keys_;
  }
  void add_key(const sqlite::Execution& row, int first) override;
  std::uint64_t keys_read() const override { return keys_read_; }
  bool keep_keys(std::uint64_t n) override;
  void forget_keys() override;

  Header header_;  // of the newest layer
  KeySketch added_keys_;
  std::uint64_t keys_read_ = 0;  // keys in added_keys_, without those of removed rows
  std::uint64_t lost_keys_ = 0;  // keys of removed rows in added_keys_
  PartCollations parts_;
};

}  // namespace bloom
