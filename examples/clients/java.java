import java.sql.SQLException;
import org.sqlite.SQLiteConfig;

class Client {
  public static void main(String[] arguments) throws Exception {
    var config = new SQLiteConfig();
    config.enableLoadExtension(true);
    try (var db = config.createConnection("jdbc:sqlite::memory:"); var sql = db.createStatement()) {
      sql.execute("SELECT load_extension('./bloom')");

      // A filter of the keys of a query, stored as a blob.
      sql.executeUpdate("""
          CREATE TABLE items(code PRIMARY KEY);
          INSERT INTO items VALUES (42), (9007199254740993), ('Z\u00fcrich');
          CREATE TABLE filters AS SELECT bloom_build(code) AS filter FROM items""");
      var has = db.prepareStatement("SELECT bloom_contains(filter, ?) FROM filters");
      System.out.print("keys:");
      for (var key : new Object[] {42, 42.0, "42", "42".getBytes("UTF-8"), (1L << 53) + 1, (double) ((1L << 53) + 1), "Z\u00fcrich", "Bonn"}) {
        has.setObject(1, key);
        System.out.print(" " + has.executeQuery().getInt(1));
      }
      var filter = sql.executeQuery("SELECT filter FROM filters").getBytes(1);
      var asked = db.prepareStatement("SELECT bloom_contains(?, ?)");
      asked.setBytes(1, filter);
      asked.setBytes(2, "Z\u00fcrich".getBytes("UTF-8"));
      System.out.println("\nblob: " + filter.length + " " + asked.executeQuery().getInt(1));

      // A filter that follows a table, in front of a join with it.
      sql.executeUpdate("CREATE VIRTUAL TABLE items_seen USING bloom(source=items, column=code)");
      var insert = db.prepareStatement("INSERT INTO items VALUES (?)");
      insert.setString(1, "Bonn");
      insert.executeUpdate();
      sql.executeUpdate("CREATE TABLE asked(code); INSERT INTO asked VALUES ('Bonn'), ('Rome')");
      var rows = sql.executeQuery("SELECT code FROM asked JOIN items_seen ON key = code CROSS JOIN items USING (code)");
      while (rows.next()) System.out.println("join: " + rows.getString(1));

      sql.executeQuery("SELECT bloom_contains(NULL, 42)");
    } catch (SQLException error) {
      System.out.println("error: " + error.getMessage());
    }
  }
}
