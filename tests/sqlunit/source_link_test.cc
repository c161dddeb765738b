#include "sql/source/source_link.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "sql/sqlite/sql_text.h"
#include "tests/sqlunit/connection.h"

namespace bloom::test {
namespace {

using sqlite::execute;
using sqlite::quoted_name;

// A table that notes the rowids of rows in which one of two columns has changed.
constexpr std::uint64_t kVersion = 7;
constexpr std::uint64_t kOlderVersion = 6;

std::vector<Trigger> triggers(const Source& source, const std::string& table) {
  const SourceNames& names = source.names();
  const std::string on = " ON " + quoted_name(names.table);
  const auto note = [&](const std::string& row) {
    return " INSERT OR IGNORE INTO " + quoted_name(table + std::string(kChangedSuffix)) +
           "(first) VALUES (" + row + ".rowid);";
  };
  std::string differs;
  for (const std::string& column : names.columns) {
    differs.append(differs.empty() ? "" : " OR ").append("old.").append(quoted_name(column));
    differs.append(" IS NOT new.").append(quoted_name(column));
  }
  return {{table, kAfterInsertSuffix, "INSERT" + on, note("new")},
          {table, kBeforeUpdateSuffix, "UPDATE" + on + " WHEN " + differs, note("old")}};
}

// Version kOlderVersion had only the last trigger.
std::vector<TriggerSet> sets() {
  const auto make = [](const Source& source, const std::string& table, const std::string&) {
    return triggers(source, table);
  };
  const auto make_older = [](const Source& source, const std::string& table, const std::string&) {
    return std::vector{triggers(source, table).back()};
  };
  return {{.number = kVersion, .names_suffix = kBeforeUpdateSuffix, .make = make},
          {.number = kOlderVersion, .names_suffix = kBeforeUpdateSuffix, .make = make_older}};
}

class SourceLinkTest : public testing::Test {
 protected:
  void SetUp() override {
    execute(db_, R"(SAVEPOINT test; CREATE TABLE s(a, b, "c "" d");
                    INSERT INTO s VALUES (1, 2, 3);
                    CREATE TABLE g_config(k PRIMARY KEY, v) WITHOUT ROWID)");
  }
  void TearDown() override { execute(db_, "ROLLBACK TO test; RELEASE test"); }

  SourceLink link(const std::string& table = "f") {
    return {db_,
            "main",
            table,
            {"s", {"a", "c \" d"}},
            sets(),
            {kChangedSuffix, "(first UNIQUE)"},
            "rows may be missing"};
  }
  static std::string describe(const std::string& expression) {
    return sqlite::Value(value_of(expression).get()).describe();
  }
  static std::string count(const std::string& from) {
    return describe("(SELECT count(*) FROM " + from + ")");
  }
  static std::string message(const std::optional<std::string>& problem) {
    return problem.value_or("ok");
  }

  sqlite3* const db_ = connection();
};

TEST_F(SourceLinkTest, TheTriggersNoteChangesOfTheColumns) {
  SourceLink source = link();
  const LinkedObjects made = source.create("f", kVersion);
  EXPECT_EQ(message(source.check("f", made)), "ok");
  execute(db_, "INSERT INTO s VALUES (4, 5, 6); UPDATE s SET b = 7; DELETE FROM f_changed");
  execute(db_, "UPDATE s SET b = 8");
  EXPECT_EQ(count("f_changed"), "0");
  execute(db_, R"(UPDATE s SET "c "" d" = 8 WHERE a = 4)");
  EXPECT_EQ(count("f_changed WHERE first = 2"), "1");
}

TEST_F(SourceLinkTest, DropLeavesNothing) {
  SourceLink source = link();
  source.drop("f", source.create("f", kVersion).guard_index);
  EXPECT_EQ(count("sqlite_master WHERE name LIKE 'f_%'"), "0");
  source.create("f", kVersion);
  source.drop("f", "");  // the name of the guard index cannot be read
  EXPECT_EQ(count("sqlite_master WHERE name LIKE 'f_%'"), "0");
}

TEST_F(SourceLinkTest, NoticesEachObjectThatIsMissing) {
  const auto problem_after = [&](const std::string& sql) {
    execute(db_, "SAVEPOINT change");
    SourceLink source = link();
    const LinkedObjects made = source.create("f", kVersion);
    execute(db_, sql);
    std::string found = message(source.problem_of_objects("f", made));
    execute(db_, "ROLLBACK TO change; RELEASE change");
    return found;
  };
  const std::string triggers =
      "the triggers of source 's' are missing or have changed, so rows may be missing (the command "
      "'rebuild' fixes that; if the source no longer exists, run DROP TABLE)";
  EXPECT_EQ(problem_after("DROP TRIGGER f_after_insert"), triggers);
  EXPECT_EQ(problem_after("DROP TRIGGER f_before_update"), triggers);
  EXPECT_EQ(problem_after("DROP TABLE s"), triggers);
  EXPECT_EQ(problem_after("DROP VIEW f_last"), triggers);
  EXPECT_EQ(problem_after("DROP INDEX f_guard"),
            "the index 'f_guard' of source 's' is missing or has changed, so rows may be missing "
            "(the command 'rebuild' fixes that)");
  EXPECT_EQ(
      problem_after("DROP INDEX f_guard; CREATE INDEX \"f_guard\" ON "
                    "\"s\"(\"a\", \"c \"\" d\") WHERE 0"),
      "the index 'f_guard' or the table 'f_changed' was created again, so rows may be missing "
      "(the command 'rebuild' fixes that)");
  EXPECT_EQ(problem_after("ALTER TABLE f_changed ADD COLUMN note"),
            "the table 'f_changed' is missing or has changed, so rows may be missing (drop that "
            "table if it exists, then run the command 'rebuild')");
  EXPECT_EQ(problem_after("CREATE TRIGGER other BEFORE INSERT ON f_changed BEGIN "
                          "SELECT raise(IGNORE); END"),
            "the trigger or index 'other' on the table 'f_changed' may keep changes from being "
            "recorded, so rows may be missing (drop it, then run the command 'rebuild')");
}

TEST_F(SourceLinkTest, NoticesTriggersThatWereMadeAgain) {
  SourceLink source = link();
  const LinkedObjects made = source.create("f", kVersion);
  const sqlite::OwnedValue stored =
      value_of("(SELECT sql FROM sqlite_master WHERE name = 'f_after_insert')");
  const std::string sql(sqlite::Value(stored.get()).text());
  execute(db_, "DROP TRIGGER f_after_insert; " + sql);
  EXPECT_NE(message(source.problem_of_objects("f", made)), "ok");
}

TEST_F(SourceLinkTest, RestoreMakesWhatIsMissing) {
  SourceLink source = link();
  const LinkedObjects made = source.create("f", kVersion);
  execute(db_, "UPDATE s SET a = 9; DROP TRIGGER f_after_insert; DROP INDEX f_guard");
  const LinkedObjects again = source.restore("f", made, kVersion, /*triggers_are_current=*/false);
  EXPECT_EQ(message(source.problem_of_objects("f", again)), "ok");
  EXPECT_EQ(count("f_changed"), "0");
  execute(db_, "DROP TABLE f_changed");
  source.restore("f", again, kVersion, /*triggers_are_current=*/false);
  EXPECT_EQ(message(source.problem_of_objects("f", again)), "ok");
}

TEST_F(SourceLinkTest, RestoreCanKeepTriggersAndChangeTheirVersion) {
  SourceLink source = link();
  const LinkedObjects old = source.create("f", kOlderVersion);
  EXPECT_EQ(old.trigger_set_number, kOlderVersion);
  const std::string rowid = "(SELECT rowid FROM sqlite_master WHERE name = 'f_before_update')";
  const std::string before = describe(rowid);
  const LinkedObjects kept = source.restore("f", old, kOlderVersion, /*triggers_are_current=*/true);
  EXPECT_EQ(describe(rowid), before);
  EXPECT_EQ(kept.guard_index, old.guard_index);
  const LinkedObjects made = source.restore("f", old, kVersion, /*triggers_are_current=*/false);
  EXPECT_EQ(message(source.problem_of_objects("f", made)), "ok");
}

TEST_F(SourceLinkTest, FollowsNamesThatChange) {
  LinkedObjects made = link().create("f", kVersion);
  execute(db_, "ALTER TABLE s RENAME TO t; ALTER TABLE t RENAME COLUMN a TO e");
  SourceLink source = link();
  EXPECT_EQ(source.source().names().table, "t");
  EXPECT_EQ(source.source().names().columns, (std::vector<std::string>{"e", "c \" d"}));
  EXPECT_EQ(message(source.problem_of_objects("f", made)), "ok");
  std::string name = "f";
  source.rename(name, "g", made, [&] { name = "g"; });
  EXPECT_EQ(name, "g");
  EXPECT_EQ(message(source.problem_of_objects("g", made)), "ok");
  EXPECT_EQ(count("sqlite_master WHERE name LIKE 'f_%'"), "1");  // the guard index keeps its name
  EXPECT_EQ(count("g_changed"), "0");
}

// Renaming the table must not make good what was changed, nor choose another source.
TEST_F(SourceLinkTest, RenameRefusesAProblem) {
  for (const char* change : {
           "DROP TRIGGER f_after_insert",
           "DROP TABLE f_changed; CREATE TABLE \"f_changed\"(first UNIQUE)",
           "DROP INDEX f_guard",
           "DROP INDEX f_guard; CREATE INDEX \"f_guard\" ON \"s\"(\"a\", \"c \"\" d\") WHERE 0",
       }) {
    execute(db_, "SAVEPOINT change");
    SourceLink source = link();
    const LinkedObjects made = source.create("f", kVersion);
    execute(db_, change);
    const std::string before = describe("(SELECT group_concat(sql) FROM sqlite_master)");
    EXPECT_NE(error_of([&] { source.rename("f", "g", made, [] { FAIL(); }); }), "") << change;
    EXPECT_EQ(describe("(SELECT group_concat(sql) FROM sqlite_master)"), before) << change;
    EXPECT_NE(message(source.check("f", made)), "ok") << change;
    execute(db_, "ROLLBACK TO change; RELEASE change");
  }
}

TEST_F(SourceLinkTest, RenameRefusesATakenNameBeforeItChangesAnything) {
  SourceLink source = link();
  const LinkedObjects made = source.create("f", kVersion);
  for (const char* object : {"TABLE g_changed(x)", "VIEW g_last AS SELECT 1",
                             "TRIGGER g_after_insert AFTER INSERT ON s BEGIN SELECT 1; END",
                             "INDEX G_CHANGED ON s(a)"}) {
    execute(db_, std::string("SAVEPOINT taken; CREATE ") + object);
    const std::string error =
        error_of([&] { source.rename("f", "g", made, [] { FAIL() << "has changed something"; }); });
    EXPECT_NE(error.find("already another object named"), std::string::npos) << object << error;
    EXPECT_EQ(message(source.check("f", made)), "ok") << object;
    execute(db_, "ROLLBACK TO taken; RELEASE taken");
  }
}

TEST_F(SourceLinkTest, CheckLooksAgainOnlyAfterAChangeOfTheSchema) {
  SourceLink source = link();
  const LinkedObjects made = source.create("f", kVersion);
  int looks = 0;
  const auto check = [&](bool passes) {
    return message(source.check("f", made, [&] {
      ++looks;
      return passes ? std::optional<std::string>() : "no";
    }));
  };
  EXPECT_EQ(check(false), "no");
  EXPECT_FALSE(source.is_known_in_sync());
  EXPECT_EQ(check(true), "ok");
  EXPECT_TRUE(source.is_known_in_sync());
  EXPECT_EQ(check(false), "ok");
  EXPECT_EQ(looks, 2);
  source.schema_may_have_changed();
  EXPECT_EQ(check(false), "ok");
  execute(db_, "CREATE TABLE other(x)");
  source.schema_may_have_changed();
  EXPECT_EQ(check(false), "no");
  EXPECT_EQ(looks, 3);
}

TEST_F(SourceLinkTest, ChecksAgainAfterItsOwnChanges) {
  SourceLink source = link();
  LinkedObjects made = source.create("f", kVersion);
  EXPECT_EQ(message(source.check("f", made)), "ok");
  EXPECT_TRUE(source.is_known_in_sync());
  made = source.restore("f", made, kVersion, /*triggers_are_current=*/true);
  EXPECT_FALSE(source.is_known_in_sync());
  EXPECT_EQ(message(source.check("f", made)), "ok");
  source.rename("f", "g", made, [] {});
  EXPECT_FALSE(source.is_known_in_sync());
}

// Version 1.0 made triggers alone.
TEST_F(SourceLinkTest, ASetWithoutASentinelHasTriggersAlone) {
  std::vector<TriggerSet> only_triggers = sets();
  only_triggers.front().has_sentinel = false;
  SourceLink source(db_, "main", "f", {"s", {"a", "c \" d"}}, only_triggers,
                    {kChangedSuffix, "(first UNIQUE)"}, "rows may be missing");
  const LinkedObjects made = source.create("f", kVersion);
  EXPECT_EQ(count("sqlite_master WHERE name = 'f_last'"), "0");
  execute(db_, "DROP INDEX f_guard; ALTER TABLE f_changed ADD COLUMN note");
  EXPECT_EQ(message(source.problem_of_objects("f", made)), "ok");
  execute(db_, "DROP TRIGGER f_after_insert");
  EXPECT_NE(message(source.problem_of_objects("f", made)), "ok");
}

TEST_F(SourceLinkTest, RequiresTheColumns) {
  SourceLink source = link();
  source.require_names_and_columns();
  execute(db_, "DROP TABLE s; CREATE TABLE s(a)");
  EXPECT_NE(error_of([&] { source.require_names_and_columns(); }), "");
}

}  // namespace
}  // namespace bloom::test
