#include "sql/group_table/range_reader.h"

#include <array>
#include <string>

#include "core/support/error.h"
#include "sql/sqlite/context.h"
#include "sql/sqlite/function.h"
#include "sql/sqlite/sql_text.h"
#include "sql/values/key.h"
#include "sql/vtab/damage.h"

namespace bloom {
namespace {

using sqlite::Execution;
using sqlite::Values;

constexpr const char* kRowsVanished = "the source has fewer rows than it had just before";

// The destination of the hashes, which RangeReader passes to its SQL function as a pointer value.
constexpr char kSinkType[] = "bloom range reader";
struct Sink {
  const AddHashes& add;
  Shape shape;
  bool is_utf8;
  std::uint64_t rows = 0;
};

// bloom_read_range(pointer, key): passes the hashes of the keys to a Sink. SQLite calls an
// aggregate function in less time than sqlite3_step() takes to return a row. Hashes are passed in
// batches, because the processor then computes the positions of several keys at the same time.
class ReadRange {
 public:
  void step(sqlite::Context&, const Values& arguments) {
    if (sink_ == nullptr) {
      sink_ = static_cast<Sink*>(arguments[0].pointer(kSinkType));
      if (sink_ == nullptr) {
        fail("only the extension itself can call this function");
      }
    }
    ++sink_->rows;
    const Key key(arguments[1], sink_->is_utf8);
    if (key.is_null()) {
      return;
    }
    add(key.hash(sink_->shape));
    if (!has_noncanonical_ && key.is_noncanonical_number()) {
      has_noncanonical_ = true;
      add(noncanonical_marker(sink_->shape));
    }
  }

  void finish(sqlite::Context&) {
    if (count_ != 0) {
      sink_->add(std::span(hashes_).first(count_));
    }
  }

 private:
  void add(Hash hash) {
    hashes_[count_] = hash;
    if (++count_ == hashes_.size()) {
      sink_->add(hashes_);
      count_ = 0;
    }
  }

  Sink* sink_ = nullptr;
  std::array<Hash, 64> hashes_;
  std::size_t count_ = 0;
  bool has_noncanonical_ = false;
};
constexpr sqlite::Signature kReadRange{"bloom_read_range", 2};

// Returns a query of the rowid after ?2 others, of those that match the condition, in this order.
std::string select_rowid(const Source& source, const std::string& id, std::string_view condition) {
  const std::string name = sqlite::quoted_name(id);
  return "SELECT " + name + " FROM " + source.qualified(source.names().table) + " WHERE " + name +
         std::string(condition) + " LIMIT 1 OFFSET ?2";
}

}  // namespace

// NOT INDEXED: the query needs the keys of a range of rows, in any order.
RangeReader::RangeReader(const Source& source, const std::string& id, std::uint64_t rows,
                         const Shape& shape)
    : rows_(rows),
      shape_(shape),
      is_utf8_(source.is_utf8()),
      read_(source.db(), std::string("SELECT ") + kReadRange.name + "(?3, " + source.key_of("t") +
                             ") FROM " + source.qualified(source.names().table) +
                             " AS t NOT INDEXED WHERE t." + sqlite::quoted_name(id) +
                             " BETWEEN ?1 AND ?2"),
      select_rowid_(source.db(), select_rowid(source, id, " >= ?1 ORDER BY 1")),
      select_rowid_from_end_(source.db(), select_rowid(source, id, " <= ?1 ORDER BY 1 DESC")) {}

std::optional<std::int64_t> RangeReader::start_of_last_rows() const {
  Execution run(select_rowid_from_end_);
  run.bind(1, kMaxRowid).bind(2, static_cast<std::int64_t>(rows_ - 1));
  return run.step() ? std::optional(run.integer(0)) : std::nullopt;
}

// First assumes that the rowids have no gaps. If there are gaps, finds out where the rows end.
std::int64_t RangeReader::read_rows_from(std::int64_t first, const AddHashes& add) const {
  const std::int64_t start = rowid(first, 0);
  const auto others = static_cast<std::int64_t>(rows_ - 1);
  if (start > kMaxRowid - others) {
    damaged(kRowsVanished);
  }
  std::int64_t last = start + others;
  std::uint64_t count = read({start, last}, add);
  if (count < rows_) {
    const std::int64_t next = last + 1;
    last = rowid(next, rows_ - count - 1);
    count += read({next, last}, add);
  }
  if (count != rows_) {
    damaged(kRowsVanished);
  }
  return last;
}

std::uint64_t RangeReader::read(RowRange range, const AddHashes& add) const {
  Sink sink{add, shape_, is_utf8_};
  Execution run(read_);
  run.bind(1, range.first).bind(2, range.last).bind_pointer(3, &sink, kSinkType).step();
  return sink.rows;
}

// Returns the rowid that is number `i`, from 0 on, of those from `first` on.
std::int64_t RangeReader::rowid(std::int64_t first, std::uint64_t i) const {
  Execution run(select_rowid_);
  if (!run.bind(1, first).bind(2, static_cast<std::int64_t>(i)).step()) {
    damaged(kRowsVanished);
  }
  return run.integer(0);
}

void add_range_reader_function(sqlite3* db) {
  sqlite::add_aggregate<ReadRange>(db, kReadRange, sqlite::kInternal);
}

}  // namespace bloom
