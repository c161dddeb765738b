# ruby rails_schema.rb, beside bloom.so: the schema files and a migration of Rails, as docs/orms.md describes them.
# Prints nothing if they work.
# The shell that loads structure.sql says what exists already.
require "active_record"
require "active_record/connection_adapters/sqlite3_adapter"
require "stringio"

module LoadBloom
  def configure_connection
    super
    raw = @connection || raw_connection
    raw.enable_load_extension(true)
    raw.load_extension("./bloom")
  end
end
ActiveRecord::ConnectionAdapters::SQLite3Adapter.prepend(LoadBloom)

def expect(what, wanted, got)
  abort "#{what}: wanted #{wanted.inspect}, got #{got.inspect}" unless wanted == got
end

def connect(path)
  ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: path)
  ActiveRecord::Base.connection
end

def found(db, key)
  db.select_value("SELECT count(*) FROM users_seen WHERE key = '#{key}'")
end

tasks = ActiveRecord::Tasks::DatabaseTasks
tasks.root = "."
db = connect("app.db")
db.execute("CREATE TABLE users(id INTEGER PRIMARY KEY, email TEXT COLLATE NOCASE)")
db.execute("CREATE VIRTUAL TABLE users_seen USING bloom(source=users, column=email)")

tasks.structure_dump({ adapter: "sqlite3", database: "app.db" }, "structure.sql")
tasks.structure_load_flags = ["-cmd", "'.load ./bloom'"]
tasks.structure_load({ adapter: "sqlite3", database: "loaded.db" }, "structure.sql")
loaded = connect("loaded.db")
loaded.execute("INSERT INTO users(email) VALUES ('ann@example.com')")
expect("a key of the loaded schema", 1, found(loaded, "ANN@example.com"))
expect("another key", 0, found(loaded, "bob@example.com"))
loaded.execute("INSERT INTO users_seen(users_seen) VALUES ('integrity-check')")

ActiveRecord::SchemaDumper.ignore_tables = [/\Ausers_seen(_|\z)/]
dump = StringIO.new
ActiveRecord::SchemaDumper.dump(loaded, dump)
expect("tables of schema.rb", ["users"], dump.string.scan(/create_table "(\w+)"/).flatten)

# Rails alters no column of SQLite in place.
class Change < ActiveRecord::Migration[6.1]
  def up
    change_column :users, :email, :text, collation: "NOCASE", limit: 100
  end
end

class ChangeAndRebuild < ActiveRecord::Migration[6.1]
  def up
    change_column :users, :email, :text, collation: "NOCASE", limit: 200
    execute "INSERT INTO users_seen(users_seen) VALUES ('rebuild')"
  end
end

ActiveRecord::Migration.verbose = false
Change.migrate(:up)
begin
  found(loaded, "ann@example.com")
  abort "a migration without 'rebuild': the lookup does not fail"
rescue ActiveRecord::StatementInvalid => error
  abort error.message unless error.message.include?("triggers of source 'users' are missing")
end
ChangeAndRebuild.migrate(:up)
loaded.execute("INSERT INTO users(email) VALUES ('eve@example.com')")
%w[ann eve].each { |name| expect("#{name} after the migration", 1, found(loaded, "#{name}@example.com")) }
expect("another key after the migration", 0, found(loaded, "bob@example.com"))
loaded.execute("INSERT INTO users_seen(users_seen) VALUES ('integrity-check')")
