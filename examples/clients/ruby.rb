require "sqlite3"

db = SQLite3::Database.new(":memory:")
db.enable_load_extension(true)
db.load_extension("./bloom")

# A filter of the keys of a query, stored as a blob.
db.execute_batch(<<~SQL)
  CREATE TABLE items(code PRIMARY KEY);
  INSERT INTO items VALUES (42), (9007199254740993), ('Zürich');
  CREATE TABLE filters AS SELECT bloom_build(code) AS filter FROM items;
SQL
has = "SELECT bloom_contains(filter, ?) FROM filters"
keys = [42, 42.0, "42", "42".b, 2**53 + 1, (2**53 + 1).to_f, "Zürich", "Bonn"]
puts "keys: " + keys.map { |key| db.get_first_value(has, [key]) }.join(" ")
filter = db.get_first_value("SELECT filter FROM filters")
puts "blob: #{filter.bytesize} #{db.get_first_value("SELECT bloom_contains(?, ?)", [filter, "Zürich".b])}"

# A filter that follows a table, in front of a join with it.
db.execute("CREATE VIRTUAL TABLE items_seen USING bloom(source=items, column=code)")
db.execute("INSERT INTO items VALUES (?)", ["Bonn"])
db.execute_batch("CREATE TABLE asked(code); INSERT INTO asked VALUES ('Bonn'), ('Rome');")
db.execute("SELECT code FROM asked JOIN items_seen ON key = code CROSS JOIN items USING (code)") do |(code)|
  puts "join: #{code}"
end

begin
  db.execute("SELECT bloom_contains(NULL, 42)")
rescue SQLite3::Exception => error
  puts "error: #{error.message}"
end
