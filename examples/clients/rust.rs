use rusqlite::{types::Value, Connection, LoadExtensionGuard, Result};

fn main() -> Result<()> {
    let db = Connection::open_in_memory()?;
    unsafe {
        let _guard = LoadExtensionGuard::new(&db)?;
        db.load_extension("./bloom", None)?;
    }

    // A filter of the keys of a query, stored as a blob.
    db.execute_batch(
        "CREATE TABLE items(code PRIMARY KEY);
         INSERT INTO items VALUES (42), (9007199254740993), ('Zürich');
         CREATE TABLE filters AS SELECT bloom_build(code) AS filter FROM items",
    )?;
    let big = (1i64 << 53) + 1;
    let keys: [Value; 8] = [42.into(), 42.0.into(), "42".to_string().into(), b"42".to_vec().into(),
        big.into(), (big as f64).into(), "Zürich".to_string().into(), "Bonn".to_string().into()];
    let mut has = db.prepare("SELECT bloom_contains(filter, ?) FROM filters")?;
    print!("keys:");
    for key in &keys {
        print!(" {}", has.query_row([key], |row| row.get::<_, i64>(0))?);
    }
    let filter: Vec<u8> = db.query_row("SELECT filter FROM filters", [], |row| row.get(0))?;
    let yes: i64 = db.query_row("SELECT bloom_contains(?, ?)", (&filter, "Zürich".as_bytes()), |row| row.get(0))?;
    println!("\nblob: {} {}", filter.len(), yes);

    // A filter that follows a table, in front of a join with it.
    db.execute("CREATE VIRTUAL TABLE items_seen USING bloom(source=items, column=code)", [])?;
    db.execute("INSERT INTO items VALUES (?)", ["Bonn"])?;
    db.execute_batch("CREATE TABLE asked(code); INSERT INTO asked VALUES ('Bonn'), ('Rome')")?;
    let mut join = db.prepare("SELECT code FROM asked JOIN items_seen ON key = code CROSS JOIN items USING (code)")?;
    for code in join.query_map([], |row| row.get::<_, String>(0))? {
        println!("join: {}", code?);
    }

    if let Err(error) = db.query_row("SELECT bloom_contains(NULL, 42)", [], |row| row.get::<_, i64>(0)) {
        println!("error: {error}");
    }
    Ok(())
}
