import sqlite3

db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
db.load_extension("./bloom")

# A filter of the keys of a query, stored as a blob.
db.executescript("""
    CREATE TABLE items(code PRIMARY KEY);
    INSERT INTO items VALUES (42), (9007199254740993), ('Zürich');
    CREATE TABLE filters AS SELECT bloom_build(code) AS filter FROM items""")
has = "SELECT bloom_contains(filter, ?) FROM filters"
keys = 42, 42.0, "42", b"42", 2**53 + 1, float(2**53 + 1), "Zürich", "Bonn"
print("keys:", *(db.execute(has, (key,)).fetchone()[0] for key in keys))
(filter,) = db.execute("SELECT filter FROM filters").fetchone()
print("blob:", len(filter), *db.execute("SELECT bloom_contains(?, ?)", (filter, "Zürich".encode())).fetchone())

# A filter that follows a table, in front of a join with it.
db.execute("CREATE VIRTUAL TABLE items_seen USING bloom(source=items, column=code)")
db.execute("INSERT INTO items VALUES (?)", ("Bonn",))
db.executescript("CREATE TABLE asked(code); INSERT INTO asked VALUES ('Bonn'), ('Rome')")
for (code,) in db.execute("SELECT code FROM asked JOIN items_seen ON key = code CROSS JOIN items USING (code)"):
    print("join:", code)

try:
    db.execute("SELECT bloom_contains(NULL, 42)")
except sqlite3.Error as error:
    print("error:", error)
