# ruby active_record.rb
require "active_record"

# Loads the extension into every connection of the pool.
module LoadBloom
  def configure_connection
    super
    raw_connection.enable_load_extension(true)
    raw_connection.load_extension("./bloom")
    raw_connection.enable_load_extension(false)
  end
end
require "active_record/connection_adapters/sqlite3_adapter"
ActiveRecord::ConnectionAdapters::SQLite3Adapter.prepend(LoadBloom)

ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
db = ActiveRecord::Base.connection
db.execute("CREATE TABLE items(code)")
db.execute("CREATE VIRTUAL TABLE items_seen USING bloom(source=items, column=code)")
db.execute("INSERT INTO items VALUES ('Bonn')")
%w[Bonn Rome].each do |key|
  puts "#{key} #{db.select_value(ActiveRecord::Base.sanitize_sql(["SELECT count(*) FROM items_seen WHERE key = ?", key]))}"
end
