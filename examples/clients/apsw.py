import apsw

db = apsw.Connection(":memory:")
db.enableloadextension(True)
db.loadextension("./bloom")

# A filter of the keys of a query, stored as a blob.
db.cursor().execute("""
    CREATE TABLE items(code PRIMARY KEY);
    INSERT INTO items VALUES (42), (9007199254740993), ('Zürich');
    CREATE TABLE filters AS SELECT bloom_build(code) AS filter FROM items""")
has = "SELECT bloom_contains(filter, ?) FROM filters"
keys = 42, 42.0, "42", b"42", 2**53 + 1, float(2**53 + 1), "Zürich", "Bonn"
print("keys:", *(db.cursor().execute(has, (key,)).fetchone()[0] for key in keys))
(filter,) = db.cursor().execute("SELECT filter FROM filters").fetchone()
print("blob:", len(filter), *db.cursor().execute("SELECT bloom_contains(?, ?)", (filter, "Zürich".encode())).fetchone())

# A filter that follows a table, in front of a join with it.
db.cursor().execute("""
    CREATE VIRTUAL TABLE items_seen USING bloom(source=items, column=code);
    INSERT INTO items VALUES (?);
    CREATE TABLE asked(code);
    INSERT INTO asked VALUES ('Bonn'), ('Rome')""", ("Bonn",))
for (code,) in db.cursor().execute("SELECT code FROM asked JOIN items_seen ON key = code CROSS JOIN items USING (code)"):
    print("join:", code)

try:
    db.cursor().execute("SELECT bloom_contains(NULL, 42)")
except apsw.Error as error:
    print("error:", error)
