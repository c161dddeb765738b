// The calls of SQLite about transactions, for a bloom_groups table.
#include <algorithm>

#include "sql/group_table/group_table.h"

namespace bloom {

void GroupTable::connect() {
  store_.tables().note_connected();
  watch_others();
}

// Other objects of this name are out of date. Statements that are running may still use them.
void GroupTable::watch_others() {
  for (GroupTable* const other : shared_.tables) {
    if (other != this && is_same_table(*other)) {
      other->store_.tables().watch_name();
    }
  }
}

// Running SQL can end the life of objects that only wait for it. One with deferred keys belongs to
// a statement that is running.
void GroupTable::Shared::write_deferred_keys() {
  const auto next = [&] {
    return std::find_if(tables.begin(), tables.end(),
                        [](const GroupTable* table) { return table->writer_.has_deferred(); });
  };
  for (auto table = next(); table != tables.end(); table = next()) {
    (*table)->writer_.write_deferred();
  }
}

void GroupTable::write_all_keys() {
  shared_.write_deferred_keys();
  writer_.merge_row_log();
}

void GroupTable::begin() {
  if (!transaction_.is_open()) {
    writer_.begin_transaction();
  }
  writer_.forget_rows();
  transaction_.begin();
}

void GroupTable::savepoint(int number) {
  if (changes_in_progress_ != 0) {
    return;
  }
  write_deferred_keys();
  writer_.forget_rows();
  transaction_.savepoint(number);
}

void GroupTable::released(int number) {
  if (changes_in_progress_ != 0) {
    return;
  }
  write_deferred_keys();
  writer_.forget_rows();
  transaction_.released(number);
}

void GroupTable::rolled_back_to(int number) {
  transaction_.rolled_back_to(number);
  writer_.discard();
  ++shared_.removals;
}

// If sqlite3_close() was refused, the transaction is still open. Deferred keys are lost by then, so
// the transaction must be rolled back.
void GroupTable::rolled_back() {
  const bool lost = writer_.has_deferred() &&
                    sqlite::has_write_transaction(db_, store_.tables().schema().c_str());
  writer_.discard();
  writer_.end_transaction();
  ++shared_.removals;
  transaction_.rolled_back();
  if (lost) {
    sqlite::roll_back(db_);
  }
}

void GroupTable::committed() {
  writer_.end_transaction();
  transaction_.committed();
}

}  // namespace bloom
