// The objects of a schema that concern a virtual table and its source: triggers, indexes, the side
// table. One statement reads all of them, because a fresh connection pays for each statement that
// it prepares. current() reads only after a change of the schema.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/sqlite/guard.h"
#include "sql/sqlite/sql_text.h"
#include "sql/sqlite/statement.h"

namespace bloom {

// A row of sqlite_master.
struct StoredObject {
  std::string type;
  std::string name;
  std::string table;   // the one that it is on; of a table its own name
  bool has_b_tree;     // false: a view, a trigger or a virtual table
  std::string sql;     // empty if the object was not made by a statement of its own
  std::int64_t rowid;  // SQLite numbers the objects in the order in which they were made
};

class StoredSchema {
 public:
  // Reads the objects on `source`, and those whose name, or whose table's name, begins with
  // `table`. Throws SqliteError.
  StoredSchema(sqlite3* db, std::string_view schema, std::string table, std::string source)
      : table_(std::move(table)), source_(std::move(source)) {
    const sqlite::Statement select(db, "SELECT type, name, tbl_name, rootpage, sql, rowid FROM " +
                                           sqlite::quoted_name(schema) + ".sqlite_master");
    sqlite::Execution run(select);
    while (run.step()) {
      const std::string_view name = text_of(run, 1);
      const std::string_view on = text_of(run, 2);
      if (begins_with_table(name) || begins_with_table(on) || is_same(on, source_)) {
        objects_.push_back({std::string(text_of(run, 0)), std::string(name), std::string(on),
                            run.integer(3) != 0, std::string(text_of(run, 4)), run.integer(5)});
      }
    }
  }

  const std::string& table() const { return table_; }
  const std::string& source() const { return source_; }
  const std::vector<StoredObject>& objects() const { return objects_; }

  // Returns null if there is none.
  const StoredObject* find(std::string_view type, std::string_view name) const {
    for (const StoredObject& object : objects_) {
      if (object.type == type && is_same(object.name, name)) {
        return &object;
      }
    }
    return nullptr;
  }
  // Returns "" if there is no such object.
  std::string_view sql_of(std::string_view type, std::string_view name) const {
    const StoredObject* const object = find(type, name);
    return object == nullptr ? std::string_view() : std::string_view(object->sql);
  }
  // Compares as SQLite compares names. Requires: both end with a NUL.
  static bool is_same(std::string_view a, std::string_view b) {
    return a.size() == b.size() && sqlite3_stricmp(a.data(), b.data()) == 0;
  }

 private:
  static std::string_view text_of(const sqlite::Execution& run, int column) {
    const sqlite::Value value = run.value(column);
    return value.type() == SQLITE_TEXT ? value.text() : std::string_view();
  }
  bool begins_with_table(std::string_view name) const {
    return !table_.empty() && name.size() >= table_.size() &&
           sqlite3_strnicmp(name.data(), table_.data(), static_cast<int>(table_.size())) == 0;
  }

  std::string table_;
  std::string source_;
  std::vector<StoredObject> objects_;
};

class SchemaReader {
 public:
  SchemaReader(sqlite3* db, std::string schema) : db_(db), schema_(std::move(schema)) {}

  // Returns a value that is new whenever the schema or the TEMP schema has changed. The version
  // alone is not enough: SQLite uses a version again after a rollback, and the TEMP schema has its
  // own. In both cases it prepares all statements again, so the number of preparations is part of
  // it.
  struct State {
    std::int64_t version;
    int preparations;  // of a statement that this object keeps
    bool operator==(const State&) const = default;
  };
  State state() {
    if (!select_version_) {
      select_version_.emplace(db_, "PRAGMA " + sqlite::quoted_name(schema_) + ".schema_version");
    }
    sqlite::Execution run(*select_version_);
    if (!run.step()) {
      throw sqlite::SqliteError(SQLITE_AUTH, "an authorizer hides the version of the schema");
    }
    return {run.integer(0), run.repreparations()};
  }

  StoredSchema read(const std::string& table, const std::string& source) const {
    return {db_, schema_, table, source};
  }
  // As read(), but reads only after a change of the state. An empty `table`: that of the last call.
  // Within xRename this may be out of date, and read() is not: ALTER TABLE has then changed
  // sqlite_master, but not yet the state.
  //
  // Valid until the next call. Code that changes the names of the source meanwhile must copy it
  // first.
  const StoredSchema& current(const std::string& table, const std::string& source) {
    const State now = state();
    if (!last_ || state_of_last_ != now || last_->source() != source ||
        (!table.empty() && last_->table() != table)) {
      const std::string about = table.empty() && last_ ? last_->table() : table;
      last_.emplace(db_, schema_, about, source);
      state_of_last_ = now;
    }
    return *last_;
  }
  // Frees what current() has kept.
  void forget() { last_.reset(); }

 private:
  sqlite3* db_;
  std::string schema_;
  std::optional<sqlite::Statement> select_version_;
  std::optional<StoredSchema> last_;
  State state_of_last_{};
};

}  // namespace bloom
