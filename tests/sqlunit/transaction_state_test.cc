// TransactionState, compared with a model in every order of SQLite's calls up to length 7.

#include "sql/vtab/transaction_state.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sql/sqlite/guard.h"
#include "sql/sqlite/statement.h"
#include "tests/sqlunit/connection.h"

namespace bloom::test {
namespace {

// A transaction of SQLite with one virtual table, and what SQLite tells that table (sqlite3Vtab...
// in vtab.c). A savepoint n of this transaction is savepoints_[n]. Each event returns whether it
// can happen now.
class Transaction {
 public:
  bool create() {
    if (has_joined_) {
      return false;
    }
    has_joined_ = is_created_here_ = true;
    depth_at_create_ = depth();
    state_.created();
    return true;
  }

  // A statement writes to the table for the first time in the transaction. SQLite reports the
  // innermost savepoint only.
  bool join() {
    if (has_joined_) {
      return false;
    }
    has_joined_ = true;
    state_.begin();
    if (depth() > 0) {
      report(depth() - 1);
    }
    return true;
  }

  bool open() {
    savepoints_.push_back({.renames = renames_});
    if (has_joined_) {
      report(depth() - 1);
    }
    return true;
  }

  // The savepoint of a statement does not open, because another table refuses it, before or after
  // this table was told. SQLite then rolls it back and releases it. It tells each table that was
  // ever told of a savepoint as high, even if that one is gone.
  bool fail_to_open(bool is_told) {
    if (!has_joined_) {
      return false;
    }
    const int number = depth();
    if (is_told) {
      report(number);
    }
    if (reported_below_ > number) {
      state_.rolled_back_to(number);
      state_.released(number);
    }
    return true;
  }

  bool release(int number) {
    if (number >= depth()) {
      return false;
    }
    savepoints_.resize(static_cast<std::size_t>(number));
    depth_at_create_ = std::min(depth_at_create_, number);
    if (has_joined_ && reported_below_ > number) {
      state_.released(number);
    }
    return true;
  }

  // A rollback to a savepoint from before xCreate deletes the table, so it is not an event here.
  bool roll_back_to(int number) {
    if (number >= depth() || (is_created_here_ && number < depth_at_create_)) {
      return false;
    }
    savepoints_.resize(static_cast<std::size_t>(number) + 1);
    if (has_joined_ && reported_below_ > number) {
      state_.rolled_back_to(number);
    }
    if (undoes_rename(number)) {
      forget_renames();
    }
    return true;
  }

  // ROLLBACK TO a savepoint that began the transaction. SQLite reports it as number -1 to every
  // table of the transaction.
  bool roll_back_to_begin() {
    if (!has_joined_ || is_created_here_) {
      return false;
    }
    savepoints_.clear();
    state_.rolled_back_to(-1);
    if (renames_ != 0) {
      forget_renames();
    }
    return true;
  }

  bool rename() {
    if (!has_joined_) {
      return false;
    }
    ++renames_;
    state_.note_renamed();
    return true;
  }

  bool commit() {
    if (has_joined_) {
      state_.committed();
    }
    end();
    return true;
  }

  bool roll_back() {
    if (has_joined_) {
      state_.rolled_back();
    }
    may_have_old_name_ = may_have_old_name_ || renames_ != 0;
    end();
    return true;
  }

  void check() {
    expect(state_.is_open() == has_joined_, "is_open");
    expect(state_.innermost_savepoint() == innermost_known(), "innermost_savepoint");
    expect(state_.all_savepoints_reported() == (!is_created_here_ || was_told_),
           "all_savepoints_reported");
    expect(state_.may_have_old_name() == may_have_old_name_, "may_have_old_name");
    for (int n = has_joined_ ? depth_at_create_ : depth(); n < depth(); ++n) {
      expect(!state_.all_savepoints_reported() || reported_below_ > n, "SQLite will not report it");
    }
  }

  const std::string& error() const { return error_; }

 private:
  struct Savepoint {
    int renames;  // before it was opened
    bool is_known = false;
  };

  static std::size_t index(int number) { return static_cast<std::size_t>(number); }
  int depth() const { return static_cast<int>(savepoints_.size()); }

  // SQLite will also report the end of all savepoints around this one.
  void report(int number) {
    state_.savepoint(number);
    for (Savepoint& savepoint : savepoints_) {
      savepoint.is_known = true;
    }
    reported_below_ = number + 1;
    was_told_ = true;
  }

  int innermost_known() const {
    for (int n = depth(); n-- > 0;) {
      if (savepoints_[index(n)].is_known) {
        return n;
      }
    }
    return -1;
  }

  bool undoes_rename(int number) const { return renames_ > savepoints_[index(number)].renames; }

  // A table whose rename was undone is not used again: SQLite makes a new object.
  void forget_renames() {
    may_have_old_name_ = true;
    renames_ = 0;
    for (Savepoint& savepoint : savepoints_) {
      savepoint.renames = 0;
    }
  }

  void end() {
    const TransactionState state = state_;
    const std::string error = error_;
    const bool may_have_old_name = may_have_old_name_;
    *this = Transaction();
    state_ = state;
    error_ = error;
    may_have_old_name_ = may_have_old_name;
  }

  void expect(bool is_good, const std::string& what) {
    if (!is_good && error_.empty()) {
      error_ = what;
    }
  }

  TransactionState state_{connection()};
  std::vector<Savepoint> savepoints_;
  int depth_at_create_ = 0;  // 0 if the table is older than the transaction
  int reported_below_ = 0;   // the member iSavepoint of SQLite's VTable
  bool has_joined_ = false;
  bool is_created_here_ = false;
  bool was_told_ = false;  // of a savepoint, in this transaction
  int renames_ = 0;
  bool may_have_old_name_ = false;
  std::string error_;
};

struct Event {
  const char* name;
  std::function<bool(Transaction&)> happen;
};

const std::vector<Event>& events() {
  static const std::vector<Event> kEvents = {
      {"create", &Transaction::create},
      {"begin", &Transaction::join},
      {"savepoint", &Transaction::open},
      {"failed savepoint", [](Transaction& t) { return t.fail_to_open(true); }},
      {"savepoint that failed before", [](Transaction& t) { return t.fail_to_open(false); }},
      {"release 0", [](Transaction& t) { return t.release(0); }},
      {"release 1", [](Transaction& t) { return t.release(1); }},
      {"release 2", [](Transaction& t) { return t.release(2); }},
      {"rollback to 0", [](Transaction& t) { return t.roll_back_to(0); }},
      {"rollback to 1", [](Transaction& t) { return t.roll_back_to(1); }},
      {"rollback to 2", [](Transaction& t) { return t.roll_back_to(2); }},
      {"rollback to the start", &Transaction::roll_back_to_begin},
      {"rename", &Transaction::rename},
      {"commit", &Transaction::commit},
      {"rollback", &Transaction::roll_back},
  };
  return kEvents;
}

// Tries all sequences of `length` more events. Returns the first one after which the state is not
// that of the model, or "". Counts the sequences.
std::string find_failure(const Transaction& before, int length, std::uint64_t& sequences) {
  for (const Event& event : events()) {
    Transaction after = before;
    if (length == 0 || !event.happen(after)) {
      continue;
    }
    ++sequences;
    after.check();
    std::string failure =
        after.error().empty() ? find_failure(after, length - 1, sequences) : ": " + after.error();
    if (!failure.empty()) {
      return std::string(event.name) + (failure.starts_with(": ") ? "" : ", ") + failure;
    }
  }
  return "";
}

TEST(TransactionState, AgreesWithAModelInEveryOrderOfCalls) {
  std::uint64_t sequences = 0;
  EXPECT_EQ(find_failure(Transaction(), 7, sequences), "");
  EXPECT_GT(sequences, 200'000U);
}

TEST(TransactionState, ATableThatIsRenamedOutsideOfATransactionMissesItsRollback) {
  TransactionState state(connection());
  state.note_renamed();
  EXPECT_TRUE(state.may_have_old_name());
}

TEST(TransactionState, ARollbackUndoesOnlyChangesThatBeganWithinIt) {
  TransactionState state(connection());
  const std::uint64_t writes = 0;
  state.begin();
  state.savepoint(0);
  const ChangeProgress change(state, writes);
  EXPECT_FALSE(change.is_undone());
  state.savepoint(1);
  state.rolled_back_to(1);
  EXPECT_FALSE(change.is_undone());
  state.rolled_back_to(0);
  EXPECT_TRUE(change.is_undone());
  const ChangeProgress next(state, writes);
  EXPECT_FALSE(next.is_undone());
  state.rolled_back();
  EXPECT_TRUE(next.is_undone());
}

// Calls f() while a statement runs that may write, and returns no rows.
void while_writing(const std::function<void()>& f) {
  sqlite3_create_function(
      connection(), "call", 0, SQLITE_UTF8, const_cast<std::function<void()>*>(&f),
      [](sqlite3_context* context, int, sqlite3_value**) {
        (*static_cast<const std::function<void()>*>(sqlite3_user_data(context)))();
      },
      nullptr, nullptr);
  sqlite::execute(connection(), "CREATE TEMP TABLE written(x)");
  sqlite::execute(connection(), "INSERT INTO written SELECT call()");
  sqlite::execute(connection(), "DROP TABLE written");
}

// FTS5, and other tables, write when SQLite reports a savepoint to them.
TEST(TransactionState, AStatementOfAnotherTableDoesNotEndTheSavepointThatOpens) {
  for (const bool fails : {false, true}) {
    TransactionState state(connection());
    state.begin();
    state.savepoint(0);
    const WriteHistory::Moment before = state.now();
    state.savepoint(1);
    while_writing([&] {
      for (int i = 0; i < 2; ++i) {
        state.savepoint(1);
        if (fails) {
          state.rolled_back_to(1);
        }
        state.released(1);
      }
    });
    EXPECT_EQ(state.innermost_savepoint(), 1);
    state.note_renamed();
    state.note_write_for_cursors();
    const WriteHistory::Moment after = state.now();
    state.rolled_back_to(1);
    EXPECT_TRUE(state.may_have_old_name());
    EXPECT_NO_THROW(state.require_not_undone(before));
    EXPECT_THROW(state.require_not_undone(after), sqlite::SqliteError);
    state.released(1);
    EXPECT_EQ(state.innermost_savepoint(), 0);
    state.released(0);
    EXPECT_EQ(state.innermost_savepoint(), -1);
  }
}

TEST(TransactionState, AStatementOfAnotherTableDoesNotKeepTheSavepointThatIsReleased) {
  TransactionState state(connection());
  state.begin();
  state.savepoint(0);
  state.savepoint(1);
  while_writing([&] {
    state.savepoint(1);
    state.released(1);
  });
  state.released(1);
  EXPECT_EQ(state.innermost_savepoint(), 0);
}

TEST(TransactionState, AStatementOfAnotherTableRunsWhileAnOuterSavepointIsReleased) {
  TransactionState state(connection());
  state.begin();
  state.savepoint(0);
  state.savepoint(1);
  state.savepoint(2);
  while_writing([&] {
    state.savepoint(1);
    state.released(1);
  });
  state.released(1);
  EXPECT_EQ(state.innermost_savepoint(), 0);
}

// A TEMP trigger on a table of the main schema writes to the TEMP schema.
TEST(TransactionState, TheSavepointOfAStatementThatWritesToTwoSchemasEndsOnce) {
  TransactionState state(connection());
  state.begin();
  state.savepoint(0);
  for (int i = 0; i < 2; ++i) {
    while_writing([&] {
      state.savepoint(1);
      state.savepoint(1);
      state.released(1);
    });
    EXPECT_EQ(state.innermost_savepoint(), 0);
  }
}

TEST(TransactionState, ASavepointThatFailedToOpenIsReplaced) {
  TransactionState state(connection());
  state.begin();
  state.savepoint(0);  // another table then refuses it, and SQLite does not say so
  state.savepoint(0);
  state.released(0);
  EXPECT_EQ(state.innermost_savepoint(), -1);
}

TEST(TransactionState, AnEnclosedChangeIsUndoneOnFailure) {
  TransactionState state(connection());
  std::uint64_t writes = 3;
  state.begin();
  const ChangeProgress change(state, writes);
  EXPECT_FALSE(change.has_written());
  EXPECT_FALSE(change.is_undone_on_failure());
  {
    const TransactionState::CommandScope enclosed(state);
    EXPECT_TRUE(change.is_undone_on_failure());
  }
  EXPECT_FALSE(change.is_undone_on_failure());
  ++writes;
  EXPECT_TRUE(change.has_written());
}

TEST(TransactionState, AnAutocommitStatementThatWritesAloneMayDefer) {
  TransactionState state(connection());
  state.begin();
  EXPECT_EQ(state.write_mode(), TransactionState::WriteMode::undecided);
  EXPECT_FALSE(state.decide_write_mode("t"));  // no statement is running
  EXPECT_EQ(state.write_mode(), TransactionState::WriteMode::immediate);
  state.committed();
  EXPECT_EQ(state.write_mode(), TransactionState::WriteMode::undecided);
}

}  // namespace
}  // namespace bloom::test
