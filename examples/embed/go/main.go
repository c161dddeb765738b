// A Go program with the extension built in: every connection that it opens has it.
//
//	embed SQL    runs SQL in a database in memory and prints the rows
//
// docs/embedding.md says how to build it.
package main

import (
	"database/sql"
	"fmt"
	"log"
	"os"
	"strings"

	_ "github.com/mattn/go-sqlite3"
)

func run(statement string) error {
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.Query(statement)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values := make([]sql.NullString, len(columns))
	places := make([]any, len(columns))
	for i := range values {
		places[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return err
		}
		texts := make([]string, len(values))
		for i, value := range values {
			texts[i] = value.String
		}
		fmt.Println(strings.Join(texts, "|"))
	}
	return rows.Err()
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: embed SQL")
	}
	if err := run(os.Args[1]); err != nil {
		log.Fatal("embed: ", err)
	}
}
