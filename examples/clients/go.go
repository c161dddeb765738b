package main

import (
	"database/sql"
	"fmt"

	"github.com/mattn/go-sqlite3"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	// Loaded by every connection of the pool; this one is in memory, so it must be the only one.
	sql.Register("sqlite3_bloom", &sqlite3.SQLiteDriver{Extensions: []string{"./bloom"}})
	db, err := sql.Open("sqlite3_bloom", ":memory:")
	check(err)
	db.SetMaxOpenConns(1)

	// A filter of the keys of a query, stored as a blob.
	_, err = db.Exec(`
		CREATE TABLE items(code PRIMARY KEY);
		INSERT INTO items VALUES (42), (9007199254740993), ('Zürich');
		CREATE TABLE filters AS SELECT bloom_build(code) AS filter FROM items`)
	check(err)
	var has, code string
	fmt.Print("keys:")
	for _, key := range []any{42, 42.0, "42", []byte("42"), 1<<53 + 1, float64(1<<53 + 1), "Zürich", "Bonn"} {
		check(db.QueryRow("SELECT bloom_contains(filter, ?) FROM filters", key).Scan(&has))
		fmt.Print(" ", has)
	}
	var filter []byte
	check(db.QueryRow("SELECT filter FROM filters").Scan(&filter))
	check(db.QueryRow("SELECT bloom_contains(?, ?)", filter, []byte("Zürich")).Scan(&has))
	fmt.Println("\nblob:", len(filter), has)

	// A filter that follows a table, in front of a join with it.
	_, err = db.Exec(`
		CREATE VIRTUAL TABLE items_seen USING bloom(source=items, column=code);
		INSERT INTO items VALUES (?);
		CREATE TABLE asked(code);
		INSERT INTO asked VALUES ('Bonn'), ('Rome')`, "Bonn")
	check(err)
	check(db.QueryRow("SELECT code FROM asked JOIN items_seen ON key = code CROSS JOIN items USING (code)").Scan(&code))
	fmt.Println("join:", code)

	fmt.Println("error:", db.QueryRow("SELECT bloom_contains(NULL, 42)").Scan(&has))
}
