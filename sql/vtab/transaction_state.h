// What SQLite has reported to a virtual table about its transaction. From this a table decides
// whether the changes of the running statement may wait until the statement ends.
//
// A savepoint n is "known" if SQLite has reported it or a later savepoint to this table by
// xSavepoint: n <= innermost_savepoint(). When a table joins a transaction, SQLite reports only the
// innermost open savepoint. At xCreate it reports none of the open savepoints. It also does not
// report a savepoint that failed to open because of another table.
//
// Two open savepoints can have one number. While SQLite tells the tables that savepoint n opens or
// is released, a table may itself run a statement, as FTS5 does. This statement opens a second
// savepoint of the number n. Tables that know the first one are told that the second one opens and
// is released, and must not take this for the end of the first.
//
// If a statement writes to two schemas, SQLite reports its savepoint twice, and the end of that
// savepoint once.
//
// SQLite has no call for the end of a statement. The running statement may have ended whenever
// SQLite calls xBegin, xSavepoint, xRelease, xRollbackTo, xSync, xCommit or xRollback.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sql/sqlite/api.h"
#include "sql/vtab/write_history.h"

namespace bloom {

// Throws SqliteError(SQLITE_ABORT_ROLLBACK). An SQL function of the host, or the application, can
// roll back while a statement runs.
[[noreturn]] void refuse_rolled_back();

class TransactionState {
 public:
  explicit TransactionState(sqlite3* db) : db_(db) {}

  // The calls of SQLite. Call created() at the end of xCreate: SQLite does not report savepoints
  // that are open then.
  void created();
  void begin();
  void savepoint(int number);
  void released(int number);
  // SQLite may call this for a savepoint that is not known. It was then never opened, and there is
  // nothing to undo.
  void rolled_back_to(int number);
  void committed() { end(); }
  void rolled_back();

  bool is_open() const { return is_open_; }
  // Returns the innermost open savepoint that SQLite has reported; -1: the transaction itself.
  int innermost_savepoint() const { return innermost_savepoint_; }
  // Returns whether SQLite will call xRollbackTo for every open savepoint.
  bool all_savepoints_reported() const { return all_savepoints_reported_; }
  // Returns whether the table was created in this transaction. A rollback to a savepoint may then
  // give its name back to a table that was dropped.
  bool was_created() const { return was_created_; }

  // Call before a statement writes rows that a cursor may read later.
  void note_write_for_cursors() { history_.note_write(); }
  WriteHistory::Moment now() { return history_.now(); }
  // Throws SqliteError(SQLITE_ABORT_ROLLBACK) if a rollback may have undone what a cursor had read
  // by then.
  void require_not_undone(const WriteHistory::Moment& moment) const {
    if (history_.is_undone(moment)) {
      refuse_rolled_back();
    }
  }

  // How the running statement's changes reach the rows.
  enum class WriteMode {
    undecided,  // each change is written at once, and the next one may decide
    immediate,  // each change is written at once
    // Changes are written at the end of the statement. If the statement fails, SQLite undoes them:
    // the statement has a savepoint of its own, or is the only writer of an implicit transaction.
    deferred,
  };
  WriteMode write_mode() const { return write_mode_; }
  bool is_deferring() const { return write_mode_ == WriteMode::deferred; }
  // Sets the mode, for code that adds many keys within one call of SQLite, such as 'rebuild'. The
  // caller restores the mode before it returns to SQLite.
  void set_write_mode(WriteMode mode) { write_mode_ = mode; }

  // Decides how the running statement writes to `table`, unless that is decided. Returns whether
  // the statement defers its changes as a result of this call.
  bool decide_write_mode(std::string_view table);
  // Returns whether the running statement has written a change at once. It may defer its later
  // changes.
  bool has_written_immediately() const { return has_written_immediately_; }
  // Returns how many changes the running statement has written without deferring them. Counts from
  // the last call of SQLite that may have ended the previous statement: see the top.
  int changes_written() const { return changes_written_; }
  // Call after a change was written at once. `counts_in_changes`: SQLite will count this row of the
  // statement in changes().
  void count_written_change(bool counts_in_changes);

  // While it lives, the caller undoes a change that fails: see sqlite::atomically().
  class CommandScope {
   public:
    explicit CommandScope(TransactionState& transaction);
    CommandScope(const CommandScope&) = delete;
    CommandScope& operator=(const CommandScope&) = delete;
    ~CommandScope() { transaction_.in_command_scope_ = before_; }

   private:
    TransactionState& transaction_;
    bool before_;
  };

  // Returns whether the statement of the command was the only running one that may write, when the
  // CommandScope was made. Requires: there is a CommandScope.
  bool is_only_writer() const {
    assert(in_command_scope_);
    return is_only_writer_;
  }

  // Rolls the whole transaction back, because a change has failed halfway.
  void roll_back();
  // Call after a change has failed with result code `code`. Returns the code to report to SQLite.
  // If roll_back() has failed, this is SQLITE_IOERR: SQLite then rolls the transaction back.
  // Otherwise it is `code`.
  int code_to_report(int code);

  // Call when the table was renamed. Remembers the innermost savepoint, because undoing it undoes
  // the rename.
  void note_renamed();
  // Returns whether the table may have its old name again, while its object has the new one. Either
  // a rollback has undone a rename, or one could do so without a call to this object. SQLite makes
  // a new object for the old name, and only statements that were already running use this one.
  bool may_have_old_name() const { return may_have_old_name_; }

 private:
  friend class ChangeProgress;

  // Who opened the innermost savepoint. A statement's own savepoint is released before the
  // application can do anything else.
  enum class Owner { user, statement, unknown };

  // Returns true if the running statement has written before, which shows that the savepoint of an
  // unknown owner is its own.
  bool unknown_savepoint_is_of_this_statement() const;
  // Returns whether scanning all prepared statements takes longer than writing some keys at once.
  bool has_many_statements() const { return statements_ > kManyStatements; }
  void end_statement();
  void end();
  bool is_consistent() const;

  static constexpr int kManyStatements = 1000;

  sqlite3* db_;
  int statements_ = 0;       // prepared statements of the connection, when they were scanned last
  int changes_written_ = 0;  // see changes_written()
  int changes_before_scan_ = 0;  // changes to write before the statements are scanned
  bool is_open_ = false;
  bool all_savepoints_reported_ = true;
  bool was_created_ = false;
  bool has_just_joined_ = false;  // the running statement has joined the transaction
  int innermost_savepoint_ = -1;
  int nested_ = 0;  // savepoints of statements that have the number of the innermost one
  // Whether SAVEPOINT opened the innermost one, as far as is known. Kept until that one ends.
  bool is_innermost_of_user_ = true;
  // Who opened the innermost savepoint, if that was within the running statement. `user` once a
  // statement may have ended.
  Owner owner_for_statement_ = Owner::user;
  WriteMode write_mode_ = WriteMode::undecided;
  bool has_written_immediately_ = false;
  std::optional<int> changes_after_write_;  // sqlite3_total_changes() after the last change
  // The innermost savepoint that a rename belongs to. Undoing it undoes the rename.
  std::optional<int> renamed_within_;
  bool may_have_old_name_ = false;
  // The outermost savepoint that was undone since the last change began; -1: the transaction.
  std::optional<int> rolled_back_to_;
  WriteHistory history_;
  bool must_roll_back_ = false;    // roll_back() has failed
  bool in_command_scope_ = false;  // see CommandScope
  bool is_only_writer_ = false;
};

// Tells whether a change that has failed must still be undone. A change can write several rows of
// the shadow tables. If it fails after some of them, those rows must be undone: by SQLite, or else
// by TransactionState::roll_back(). Create this object when the change begins. Changes do not nest.
class ChangeProgress {
 public:
  // `writes`: the counter of the rows written to the shadow tables. Must outlive this object.
  ChangeProgress(TransactionState& transaction, const std::uint64_t& writes)
      : transaction_(transaction),
        writes_(writes),
        first_write_(writes),
        savepoint_(transaction.innermost_savepoint()) {
    transaction.rolled_back_to_.reset();
  }

  bool has_written() const { return writes_ != first_write_; }
  // Returns whether a rollback has undone the change. A statement that the change runs can have a
  // savepoint of its own, because of triggers on a shadow table. Undoing that savepoint undoes only
  // a part of the change.
  bool is_undone() const {
    return transaction_.rolled_back_to_ && *transaction_.rolled_back_to_ <= savepoint_;
  }
  // Returns whether the change is undone if it fails now. This is so within a CommandScope, and if
  // the statement defers its changes and is the only running one that may write. An SQL function of
  // the deferring statement may have started a second writer, which may have no savepoint of its
  // own. If it fails, SQLite may not undo what it has changed.
  bool is_undone_on_failure() const;

 private:
  TransactionState& transaction_;
  const std::uint64_t& writes_;
  std::uint64_t first_write_;
  int savepoint_;  // the innermost one when the change began
};

}  // namespace bloom
