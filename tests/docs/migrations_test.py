"""Migrations by the tools that people use: a filter whose source was replaced refuses lookups until 'rebuild', and misses no row after it.

    /usr/bin/python3 tests/docs/migrations_test.py EXTENSION [unittest options]

docs/orms.md describes what to write. Tools that are not installed are skipped.
"""

import importlib.util
import shutil
import sqlite3
import subprocess
import sys
import unittest
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.case import InFolder  # noqa: E402
from support.host import EXTENSION, SANITIZED, one  # noqa: E402

LOST = "the triggers of source 'users' are missing or have changed"
REBUILD = "INSERT INTO users_seen(users_seen) VALUES ('rebuild')"


def needs(module):
    return unittest.skipIf(SANITIZED or importlib.util.find_spec(module) is None, f"{module} is not installed, or not for sanitizers")


class Migrations(InFolder):
    def setUp(self):
        super().setUp()
        warnings.simplefilter("ignore")
        db = self.connect()
        db.executescript("""
            CREATE TABLE users(id INTEGER PRIMARY KEY, email TEXT COLLATE NOCASE, age TEXT);
            INSERT INTO users(email) VALUES ('ann@example.com'), ('bob@example.com');
            CREATE VIRTUAL TABLE users_seen USING bloom(source=users, column=email);
        """)
        db.close()

    def plain(self):
        return sqlite3.connect(self.path)

    def refuses_until_rebuild(self):
        db = self.connect()
        self.assertFails(db, LOST, "SELECT count(*) FROM users_seen WHERE key = 'ann@example.com'")
        db.execute(REBUILD)
        self.finds_all(db)

    def finds_all(self, db):
        db.execute("INSERT INTO users(email) VALUES ('eve@example.com')")
        self.assertEqual(one(db, "SELECT count(*) FROM users JOIN users_seen ON key = email"), one(db, "SELECT count(*) FROM users"))
        self.assertEqual(one(db, "SELECT count(*) FROM users_seen WHERE key = 'nobody@example.com'"), 0)
        db.execute("INSERT INTO users_seen(users_seen) VALUES ('integrity-check')")
        db.close()

    @needs("alembic")
    def test_alembic_batch_mode(self):
        from alembic.migration import MigrationContext
        from alembic.operations import Operations
        from sqlalchemy import Integer, create_engine

        engine = create_engine(f"sqlite:///{self.path}")  # without the extension
        with engine.begin() as connection:
            operations = Operations(MigrationContext.configure(connection))
            with operations.batch_alter_table("users") as batch:
                batch.alter_column("age", type_=Integer)
        engine.dispose()
        self.refuses_until_rebuild()

    @needs("alembic")
    def test_alembic_with_rebuild_at_the_end(self):
        from alembic.migration import MigrationContext
        from alembic.operations import Operations
        from sqlalchemy import Integer, create_engine, event

        engine = create_engine(f"sqlite:///{self.path}")

        @event.listens_for(engine, "connect")
        def load_bloom(connection, record):
            connection.enable_load_extension(True)
            connection.load_extension(EXTENSION)

        with engine.begin() as connection:
            operations = Operations(MigrationContext.configure(connection))
            with operations.batch_alter_table("users") as batch:
                batch.alter_column("age", type_=Integer)
            operations.execute(REBUILD)
        engine.dispose()
        self.finds_all(self.connect())

    @needs("alembic")
    def test_alembic_autogenerate_leaves_the_tables_out(self):
        from alembic.autogenerate import compare_metadata
        from alembic.migration import MigrationContext
        from sqlalchemy import Column, Integer, MetaData, Table, Text, create_engine, text

        model = MetaData()
        Table("users", model, Column("id", Integer, primary_key=True), Column("email", Text), Column("age", Text))
        engine = create_engine(f"sqlite:///{self.path}")
        with engine.connect() as connection:
            filters = [name for (name,) in connection.execute(text("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%USING bloom%'"))]

            def include_name(name, kind, parents):
                return not any(f"{name}_".startswith(f"{each}_") for each in filters)

            def dropped(**options):
                context = MigrationContext.configure(connection, opts=options)
                return [change[1].name for change in compare_metadata(context, model) if change[0] in ("remove_table", "remove_index")]

            self.assertEqual(dropped(include_name=include_name), [])
            self.assertLessEqual({"users_seen_data", "users_seen_guard"}, set(dropped(include_name=lambda name, kind, parents: name != "users_seen")))
        engine.dispose()

    @needs("django")
    def test_django_schema_editor(self):
        script = f"""
import django
from django.conf import settings
settings.configure(DATABASES={{"default": {{"ENGINE": "django.db.backends.sqlite3", "NAME": {self.path!r}}}}}, INSTALLED_APPS=[])
django.setup()
from django.db import connection, models

class Users(models.Model):
    email = models.TextField(null=True)
    age = models.TextField(null=True)
    class Meta:
        app_label, db_table = "app", "users"

old = Users._meta.get_field("age")
new = models.IntegerField(null=True)
new.set_attributes_from_name("age")
new.model = Users
with connection.schema_editor() as editor:
    editor.alter_field(Users, old, new)
"""
        subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
        self.refuses_until_rebuild()

    @needs("playhouse")
    def test_peewee_migrator(self):
        from peewee import SqliteDatabase
        from playhouse.migrate import SqliteMigrator, migrate

        database = SqliteDatabase(self.path)
        migrate(SqliteMigrator(database).add_not_null("users", "email"))
        database.close()
        db = self.connect()
        try:
            one(db, "SELECT count(*) FROM users_seen WHERE key = 'ann@example.com'")
        except sqlite3.Error as error:
            self.assertIn(LOST, str(error))
            db.execute(REBUILD)
        self.finds_all(db)

    @unittest.skipIf(SANITIZED or shutil.which("sqlite-utils") is None, "sqlite-utils is not installed, or not for sanitizers")
    def test_sqlite_utils_transform(self):
        subprocess.run(["sqlite-utils", "transform", self.path, "users", "--type", "age", "integer"], check=True, capture_output=True)
        self.refuses_until_rebuild()

    def test_sqlites_own_steps_with_another_content(self):
        """SQLite's documentation says to save the triggers and indexes, and to create them again."""
        db = self.plain()
        saved = [sql for (sql,) in db.execute("SELECT sql FROM sqlite_master WHERE tbl_name = 'users' AND type <> 'table' AND sql IS NOT NULL")]
        self.assertTrue(saved)
        db.executescript(f"""
            BEGIN;
            CREATE TABLE new_users(id INTEGER PRIMARY KEY, email TEXT COLLATE NOCASE, age INTEGER);
            INSERT INTO new_users SELECT id, 'new.' || email, age FROM users;
            DROP TABLE users;
            ALTER TABLE new_users RENAME TO users;
            {";".join(saved)};
            COMMIT;
        """)
        db.close()
        self.refuses_until_rebuild()

    def test_a_renamed_column(self):
        db = self.plain()
        db.executescript("""
            CREATE TABLE new_users(id INTEGER PRIMARY KEY, mail TEXT);
            INSERT INTO new_users SELECT id, email FROM users;
            DROP TABLE users;
            ALTER TABLE new_users RENAME TO users;
        """)
        db.close()
        db = self.connect()
        self.assertFails(db, LOST, "SELECT count(*) FROM users_seen WHERE key = 'ann@example.com'")
        self.assertFails(db, "DROP this table, and create it again with the new name of the column", REBUILD)


if __name__ == "__main__":
    unittest.main()
