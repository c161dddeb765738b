"""Every command of every form of table, while something changes what the command has checked.

    /usr/bin/python3 tests/promise/check_and_work_test.py EXTENSION [unittest options]

docs/architecture.md lists what each command requires and what may change. Here each one runs with pending changes, in
triggers of its source, beside statements that have not finished, and after changes of the schema. It works, or it fails and
leaves nothing behind; afterwards no key is missing, or lookups are refused until 'rebuild'.
"""

import functools
import itertools
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import support.host  # noqa: E402, F401  (takes EXTENSION from the command line)
from support.raw import CONSTRAINT, ERROR, Failure, Raw  # noqa: E402

KEY, COMPOSITE, PAIR, ROW = "f.key = s.k", "f.k = s.k AND f.m = s.m", "f.key = s.k AND f.member = s.m", "f.k = s.k AND f.id = s.id"
# Each form: its module, the condition of a lookup, the columns into which a table without a source takes rows.
FORMS = {
    "grows": ("bloom", KEY, "key"),
    "one layer": ("bloom(capacity=2000)", KEY, "key"),
    "counting": ("bloom(capacity=2000, kind=counting)", KEY, "key"),
    "generations": ("bloom(capacity=2000, generations=4)", KEY, "key"),
    "followed": ("bloom(source=s, column=k, block=512, capacity=40)", KEY, ""),
    "followed, maybe": ("bloom(source=s, column=k, on_stale=maybe, growth=off, capacity=2000, kind=partitioned)", KEY, ""),
    "followed, counting": ("bloom(source=s, column=k, kind=counting, capacity=2000)", KEY, ""),
    "followed, two columns": ("bloom(source=s, column=(k, m))", COMPOSITE, ""),
    "followed, extension": ("bloom(source=s, column=k, writers=extension)", KEY, ""),
    "followed, extension, counting": ("bloom(source=s, column=k, writers=extension, kind=counting, capacity=2000)", KEY, ""),
    "groups": ("bloom_groups(capacity=50)", PAIR, "member, key"),
    "groups, followed": ("bloom_groups(source=s, member=m, column=k)", PAIR, ""),
    "search": ("bloom_search(source=s, equal=(k))", ROW, ""),
    "search, expression": ("bloom_search(source=s, equal=(k, k || m AS e), like=(k))", ROW, ""),
}  # fmt: skip
ROWS = "WITH RECURSIVE n(i) AS (SELECT {0} UNION ALL SELECT i + 1 FROM n WHERE i < {1}) SELECT i, 'key ' || i, i % 3 FROM n"
TRIGGERS = (
    ("BEFORE INSERT", "INSERT INTO s VALUES (901, 'in flight', 9), (902, 'too', 2)"),
    ("AFTER INSERT", "INSERT INTO s VALUES (903, 'in flight, after', 1)"),
    ("BEFORE UPDATE", "UPDATE s SET k = k || '!', m = m + 1 WHERE id < 4"),
    ("AFTER UPDATE", "UPDATE s SET k = k || '!', m = m + 1 WHERE id < 4"),
    ("BEFORE DELETE", "DELETE FROM s WHERE id < 3"),
    ("AFTER DELETE", "REPLACE INTO s VALUES (3, 'replaced', 1)"),
)
REFUSES = "missing or have changed|keep their keys from being added|may keep them from running|cannot read|was announced"


def commands():
    db = Raw()
    db.run("CREATE TABLE s(id INTEGER PRIMARY KEY, k, m)")
    for form, (module, *_) in FORMS.items():
        db.run(f"CREATE VIRTUAL TABLE f USING {module}")
        try:
            db.run("INSERT INTO f(f) VALUES ('none')")
        except Failure as failure:
            names = re.findall(r"'([a-z-]+)'", failure.text.split("the commands are")[1])
        db.run("DROP TABLE f")
        for name in names:
            argument = {"fold": ("(f, fpr)", ", 0.5")}.get(name, ("(f)", ""))
            yield form, name, f"INSERT INTO f{argument[0]} VALUES ('{name}'{argument[1]})"
        if "groups" in form:
            yield form, "rebuild of a member", "INSERT INTO f(f, member) VALUES ('rebuild', 1)"
    db.close()


def on_every_form(test):
    """Calls test(self, db, command) for each command of each form."""

    @functools.wraps(test)
    def wrapper(self):
        for form, name, command in commands():
            with self.subTest(form, command=name):
                self.form, (self.module, self.lookup, self.columns) = form, FORMS[form]
                self.forgets = name == "clear"
                self.may_refuse = False  # lookups may be refused until 'rebuild'
                db = Raw()
                db.run("CREATE TABLE s(id INTEGER PRIMARY KEY, k, m)", "CREATE TABLE other(x)", "INSERT INTO s " + ROWS.format(1, 8), f"CREATE VIRTUAL TABLE f USING {self.module}")
                if self.columns:
                    self.add(db, 1, 8)
                test(self, db, command)
                self.assertEqual(db.close(), 0)

    return wrapper


class CheckAndWork(unittest.TestCase):
    def add(self, db, first, last):
        if not self.columns:
            return db.run("INSERT INTO s " + ROWS.format(first, last))
        if first > 8:
            db.run("INSERT INTO s " + ROWS.format(first, last))
        return db.run(f"INSERT INTO f({self.columns}) SELECT {'k' if self.columns == 'key' else 'm, k'} FROM s WHERE id BETWEEN {first} AND {last}")

    def command(self, db, command):
        """Returns whether it succeeds. Otherwise it has changed nothing, and reports no damage."""
        state = f"SELECT {'info' if 'search' in self.module or 'groups' in self.module else 'pending, layers, keys, stale'} FROM f LIMIT 1"
        before = db.run(state)
        try:
            db.run(command)
        except Failure as failure:
            self.assertIn(failure.code, (ERROR, CONSTRAINT), failure.text)
            self.assertEqual(db.run(state), before, failure.text)
            return False
        return True

    def check(self, db, forgotten=False):
        lost = f"SELECT * FROM s WHERE k IS NOT NULL AND NOT EXISTS (SELECT 1 FROM f WHERE {self.lookup})"
        check = "INSERT INTO f(f) VALUES ('integrity-check')"
        try:
            self.assertTrue(forgotten or db.run(lost) == [], "lost keys")
            db.run(check)
        except Failure as failure:
            self.assertTrue(self.may_refuse, failure.text)
            self.assertRegex(failure.text, REFUSES)
            db.run("INSERT INTO f(f) VALUES ('rebuild')", check)
            self.assertEqual(db.run(lost), [])

    @on_every_form
    def test_pending_changes(self, db, command):
        for begin in ("SELECT 1", "BEGIN"):
            db.run(begin)
            number = 10 if begin == "BEGIN" else 2000
            self.add(db, number, number + 1200)
            db.run("DELETE FROM s WHERE id % 5 = 4 AND id > 8") if not self.columns else None
            done = self.command(db, command)
            self.check(db, done and self.forgets)
            if self.forgets and done:
                break
        if db.in_transaction():
            db.run("COMMIT")
            self.check(db, done and self.forgets)

    @on_every_form
    def test_a_savepoint_that_is_rolled_back(self, db, command):
        db.run("BEGIN")
        self.add(db, 9, 20)
        db.run("SAVEPOINT a")
        self.add(db, 21, 40)
        self.command(db, command)
        db.run("ROLLBACK TO a")
        self.check(db)
        self.add(db, 21, 22)
        db.run("COMMIT")
        self.check(db)

    @on_every_form
    def test_triggers_of_the_source(self, db, command):
        self.may_refuse = True
        if self.columns:
            return
        # SQLite runs newer triggers first: an older one runs after those that record the row.
        for older, (when, statement) in itertools.product((False, True), TRIGGERS):
            trigger = f"CREATE TRIGGER t {when} ON s WHEN (SELECT count(*) FROM other) BEGIN {command}; END"
            db.run("BEGIN", *(["DROP TABLE f", trigger, f"CREATE VIRTUAL TABLE f USING {self.module}"] if older else [trigger]))
            # A member without rows, until its next row comes.
            db.run("INSERT INTO s VALUES (500, 'only', 9)", "DELETE FROM s WHERE id = 500", "INSERT INTO other VALUES (1)")
            db.code(statement)
            try:
                self.assertEqual(db.run(f"SELECT * FROM s WHERE NOT EXISTS (SELECT 1 FROM f WHERE {self.lookup})"), [], (when, older))
            except Failure as failure:
                self.assertRegex(failure.text, REFUSES)
            db.run("DROP TRIGGER t")
            self.check(db)
            db.run("ROLLBACK")

    @on_every_form
    def test_a_statement_that_has_not_finished(self, db, command):
        for table in ("s", "other"):
            try:
                statement = db.prepare(f"INSERT INTO {table} VALUES (700, 'a', 1), (701, 'b', 1) RETURNING 1" if table == "s" else "INSERT INTO other VALUES (1), (2) RETURNING 1")
            except Failure:
                self.skipTest("SQLite without RETURNING")
            if table == "s" and self.columns:
                statement.finalize()
                continue
            statement.step()
            done = db.code(command) == 0
            statement.finalize()
            self.check(db, done and self.forgets)

    @on_every_form
    def test_a_lookup_that_goes_on(self, db, command):
        self.add(db, 9, 40)
        lookups = db.prepare(f"SELECT s.id, EXISTS (SELECT 1 FROM f WHERE {self.lookup}) FROM (SELECT id, k, m FROM s ORDER BY id LIMIT 30) AS s")
        rows = [lookups.step(), lookups.step()]
        done = db.code(command) == 0
        db.code("UPDATE s SET k = 'changed ' || id WHERE id IN (5, 20)") if not self.columns else None
        try:
            while (row := lookups.step()) is not None:
                rows.append(row)
        except Failure as failure:
            self.assertRegex(failure.text, "abort|rolled back|" + REFUSES)
        lookups.finalize()
        if not (done and self.forgets):
            self.assertEqual([row for row in rows if not row[1]], [])
        self.check(db, done and self.forgets)

    @on_every_form
    def test_triggers_that_are_lost_between_two_runs(self, db, command):
        self.may_refuse = True
        if self.columns:
            return
        prepared = db.prepare(command)
        for again in (False, True):
            try:
                prepared.step()
            except Failure:
                pass
            prepared.reset()
            if not again:
                for (name,) in db.run("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 's'"):
                    db.run(f"DROP TRIGGER {name}")
                db.run("INSERT INTO s VALUES (800, 'unseen', 1)", "UPDATE s SET k = 'unseen too' WHERE id = 2")
        prepared.finalize()
        self.check(db)

    @on_every_form
    def test_triggers_that_are_lost_within_a_statement(self, db, command):
        self.may_refuse = True
        if self.columns:
            return
        names = [name for (name,) in db.run("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 's'")]
        done = []
        db.function("change", lambda: done or done.append([db.code(f"DROP TRIGGER {name}") for name in names] + [db.code("INSERT INTO s VALUES (800, 'unseen', 1)")]))
        columns, values = command.split(" VALUES ")
        first = values[1:-1]
        db.code(f"{columns} SELECT {first} UNION ALL SELECT coalesce(change(), {first.split(',')[0]}){', 0.5' if 'fpr' in columns else ', 1' if 'member' in columns else ''}")
        self.check(db)

    @on_every_form
    def test_names_that_change(self, db, command):
        prepared = db.prepare(command)
        for rename, back in (("ALTER TABLE s RENAME TO s2", "ALTER TABLE s2 RENAME TO s"), ("ALTER TABLE s RENAME COLUMN k TO k2", "ALTER TABLE s RENAME COLUMN k2 TO k"), ("ALTER TABLE s ADD COLUMN f", "SELECT 1")):
            db.run(rename)
            source, key = ("s2" if "s2" in rename else "s"), ("k2" if "k2" in rename else "k")
            db.run(f"INSERT INTO {source}(id, {key}, m) VALUES ((SELECT max(id) + 1 FROM {source}), 'renamed', 1)") if not self.columns else None
            try:
                prepared.step()
                done = True
            except Failure as failure:
                self.assertIn(failure.code, (ERROR, CONSTRAINT))
                done = False
            prepared.reset()
            db.run(back)
            if done and self.forgets:
                break
            self.check(db)
        prepared.finalize()


class List(unittest.TestCase):
    def test_it_is_complete(self):
        """docs/architecture.md has a row for each command of each table."""
        text = (Path(__file__).resolve().parents[2] / "docs/architecture.md").read_text()
        rows = re.findall(r"^\| `(bloom\w*)` \| ([^|]*) \|", text, re.M)
        for form, name, _ in commands():
            module = re.match(r"\w+", FORMS[form][0])[0]
            self.assertTrue(any(table == module and f"`'{name.split()[0]}'`" in cell for table, cell in rows), (module, name))
        for module in ("bloom", "bloom_groups", "bloom_search"):
            for statement in ("lookup", "CREATE", "RENAME"):
                self.assertTrue(any(table == module and statement in cell for table, cell in rows), (module, statement))


if __name__ == "__main__":
    unittest.main()
