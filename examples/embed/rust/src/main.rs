//! A Rust program with the extension built in: every connection that it opens has it.
//!
//!     embed SQL    runs SQL in a database in memory and prints the rows
//!
//! docs/embedding.md says how to build it.
use rusqlite::{types::ValueRef, Connection, Result, Row};
use std::os::raw::c_int;

extern "C" {
    fn sqlite3_bloom_init();
    fn sqlite3_auto_extension(entry_point: unsafe extern "C" fn()) -> c_int;
}

fn text(value: ValueRef) -> String {
    match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

fn print(row: &Row, columns: usize) -> Result<()> {
    let texts: Result<Vec<String>> = (0..columns).map(|i| Ok(text(row.get_ref(i)?))).collect();
    println!("{}", texts?.join("|"));
    Ok(())
}

fn main() -> Result<()> {
    let sql = std::env::args().nth(1).expect("usage: embed SQL");
    let code = unsafe { sqlite3_auto_extension(sqlite3_bloom_init) };
    assert_eq!(code, rusqlite::ffi::SQLITE_OK, "sqlite3_auto_extension failed");
    let db = Connection::open_in_memory()?;
    let mut statement = db.prepare(&sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        print(row, columns)?;
    }
    Ok(())
}
