#include "sql/vtab/transaction_state.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "sql/sqlite/connection.h"
#include "sql/sqlite/guard.h"

namespace bloom {
namespace {

// Writing one key takes about as long as scanning this many prepared statements.
constexpr int kStatementsPerKey = 100;

}  // namespace

void refuse_rolled_back() {
  throw sqlite::SqliteError(SQLITE_ABORT_ROLLBACK, "the transaction was rolled back meanwhile");
}

TransactionState::CommandScope::CommandScope(TransactionState& transaction)
    : transaction_(transaction), before_(std::exchange(transaction.in_command_scope_, true)) {
  transaction.is_only_writer_ = sqlite::running_writers(transaction.db_) <= 1;
}

void TransactionState::created() {
  is_open_ = true;
  has_just_joined_ = false;
  all_savepoints_reported_ = false;
  was_created_ = true;
  history_.begin();
}

void TransactionState::begin() {
  has_just_joined_ = true;
  if (!is_open_) {
    is_open_ = true;
    history_.begin();
    end_statement();
  }
}

// A savepoint that opens while a statement writes belongs to that statement, because SQLite refuses
// the SAVEPOINT command then. There is one exception. When a table joins a transaction, SQLite
// reports the innermost open savepoint to it, and that one may belong to the user.
//
// RELEASE of a savepoint also ends those within it. A statement that another table runs then has a
// lower number than they have.
void TransactionState::savepoint(int number) {
  assert(is_open_ && number >= 0);
  end_statement();
  const bool is_known = number == innermost_savepoint_;
  innermost_savepoint_ = number;
  all_savepoints_reported_ = true;
  if (std::exchange(has_just_joined_, false) || has_many_statements()) {
    owner_for_statement_ = Owner::unknown;
  } else if (sqlite::statement_runs_to_its_end(db_, statements_)) {
    owner_for_statement_ = Owner::statement;
  }
  // A statement has a higher number, unless it runs within the SAVEPOINT command.
  if (is_known && is_innermost_of_user_ && owner_for_statement_ == Owner::statement) {
    ++nested_;
  } else {
    nested_ = 0;
    is_innermost_of_user_ = owner_for_statement_ == Owner::user;
    history_.savepoint(number);
  }
  assert(is_consistent());
}

void TransactionState::released(int number) {
  assert(is_open_ && number >= 0);
  end_statement();
  if (nested_ != 0 && number == innermost_savepoint_) {
    --nested_;
    return;
  }
  if (number <= innermost_savepoint_) {
    innermost_savepoint_ = number - 1;
    is_innermost_of_user_ = true;
    nested_ = 0;
  }
  if (renamed_within_) {
    renamed_within_ = std::min(*renamed_within_, innermost_savepoint_);
  }
  assert(is_consistent());
}

void TransactionState::rolled_back_to(int number) {
  assert(is_open_ && number >= -1);  // -1: a SAVEPOINT that began the transaction
  end_statement();
  may_have_old_name_ = may_have_old_name_ || (renamed_within_ && number <= *renamed_within_);
  if (number < innermost_savepoint_) {
    innermost_savepoint_ = number;
    is_innermost_of_user_ = true;
    nested_ = 0;
  }
  rolled_back_to_ = std::min(number, rolled_back_to_.value_or(number));
  history_.rolled_back_to(number);
  assert(is_consistent());
}

void TransactionState::rolled_back() {
  may_have_old_name_ = may_have_old_name_ || renamed_within_;
  history_.rolled_back();
  end();
  rolled_back_to_ = -1;
}

// SQLite tells a table that takes no part in the transaction nothing of its end.
void TransactionState::note_renamed() {
  renamed_within_ = innermost_savepoint_;
  may_have_old_name_ = may_have_old_name_ || !is_open_;
}

void TransactionState::end() {
  end_statement();
  is_open_ = false;
  has_just_joined_ = false;
  all_savepoints_reported_ = true;
  innermost_savepoint_ = -1;
  nested_ = 0;
  was_created_ = false;
  renamed_within_.reset();
  must_roll_back_ = false;
  assert(is_consistent());
}

// Two objects of a table can share this state, so SQLite may report the end of a transaction twice.
bool TransactionState::is_consistent() const {
  if (innermost_savepoint_ < -1) {
    return false;
  }
  if (!is_open_ && (innermost_savepoint_ != -1 || !all_savepoints_reported_ || has_just_joined_ ||
                    write_mode_ != WriteMode::undecided)) {
    return false;
  }
  return !renamed_within_ || *renamed_within_ <= innermost_savepoint_ || may_have_old_name_;
}

void TransactionState::end_statement() {
  write_mode_ = WriteMode::undecided;
  has_written_immediately_ = false;
  changes_written_ = 0;
  changes_before_scan_ = has_many_statements() ? statements_ / kStatementsPerKey : 0;
  changes_after_write_.reset();
  owner_for_statement_ = Owner::user;
}

// Deferring changes to the end of the statement is safe for two reasons. SQLite either reports that
// end (xRelease or xSync) or undoes the statement. And the application cannot use the connection
// before that end.
bool TransactionState::decide_write_mode(std::string_view table) {
  if (write_mode_ != WriteMode::undecided || changes_written_ < changes_before_scan_) {
    return false;
  }
  changes_before_scan_ = 2 * changes_written_;  // of the statements, if this visit decides nothing
  if (owner_for_statement_ == Owner::unknown && sqlite::writes_through_trigger(db_, table)) {
    owner_for_statement_ = Owner::statement;
  }
  const bool is_undone_on_failure = sqlite3_get_autocommit(db_) != 0 ||
                                    owner_for_statement_ == Owner::statement ||
                                    unknown_savepoint_is_of_this_statement();
  if (is_undone_on_failure && sqlite::statement_runs_to_its_end(db_, statements_)) {
    write_mode_ = WriteMode::deferred;
  } else if (is_undone_on_failure || owner_for_statement_ == Owner::user) {
    write_mode_ = WriteMode::immediate;
  }
  return is_deferring();
}

// A statement that writes several rows has a savepoint of its own. If the statement that wrote last
// had ended, SQLite would have added its row to total_changes(). An unchanged count means that this
// statement has written before.
bool TransactionState::unknown_savepoint_is_of_this_statement() const {
  return owner_for_statement_ == Owner::unknown &&
         changes_after_write_ == sqlite3_total_changes(db_);
}

void TransactionState::count_written_change(bool counts_in_changes) {
  has_written_immediately_ = true;
  ++changes_written_;
  has_just_joined_ = false;
  changes_after_write_ =
      counts_in_changes ? std::optional(sqlite3_total_changes(db_)) : std::nullopt;
}

void TransactionState::roll_back() { must_roll_back_ = !sqlite::roll_back(db_); }

int TransactionState::code_to_report(int code) {
  return std::exchange(must_roll_back_, false) ? SQLITE_IOERR : code;
}

bool ChangeProgress::is_undone_on_failure() const {
  return transaction_.in_command_scope_ ||
         (transaction_.is_deferring() && sqlite::running_writers(transaction_.db_) <= 1);
}

}  // namespace bloom
