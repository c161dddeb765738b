// A node of a dqlite cluster that has the extension, and answers SQL by HTTP on a loopback address:
//
//	node -dir FOLDER -address HOST:PORT [-http HOST:PORT] [-join HOST:PORT] [-extension bloom.so]
//
//	POST /exec   {"sql": "...", "args": ["...", ...]}    changes
//	POST /query  the same                                rows, as arrays
//	GET  /state                                          the leader's address, and the number of voters
//	POST /lead                                           makes this node the leader
//
// An error is its text, with status 500. A node ends when its standard input does. cluster.py starts such nodes.
package main

/*
#cgo LDFLAGS: -lsqlite3 -ldl
#include <dlfcn.h>
#include <sqlite3.h>

// Gives NULL, or what is wrong.
static const char *register_extension(const char *path) {
	void *library = dlopen(path, RTLD_NOW);
	void *entry = library ? dlsym(library, "sqlite3_bloom_init") : NULL;
	if (!entry) return dlerror();
	return sqlite3_auto_extension((void (*)(void))entry) == SQLITE_OK ? NULL : "sqlite3_auto_extension failed";
}
*/
import "C"

import (
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/canonical/go-dqlite/app"
	"github.com/canonical/go-dqlite/client"
)

// Longer than it takes to find a new leader.
const patience = 20 * time.Second

type node struct {
	app *app.App
	db  *sql.DB
}

type statement struct {
	SQL  string
	Args []any
}

func main() {
	dir := flag.String("dir", "", "folder of the node's data")
	address := flag.String("address", "", "where the other nodes find this one")
	listen := flag.String("http", "127.0.0.1:0", "where it answers")
	join := flag.String("join", "", "address of a node of the cluster; none: a new cluster")
	extension := flag.String("extension", "", "path of bloom.so")
	flag.Parse()

	// Port 0 lets the kernel choose: the first line of the output says where the node answers. Listening
	// comes before joining, so that a node that cannot listen has not joined.
	listener, err := net.Listen("tcp", *listen)
	check(err)
	fmt.Println(listener.Addr())

	// Before the first connection is opened: dqlite opens its own, and load_extension() is switched off there.
	if *extension != "" {
		if problem := C.register_extension(C.CString(*extension)); problem != nil {
			log.Fatal(C.GoString(problem))
		}
	}
	go endWithInput()

	options := []app.Option{app.WithAddress(*address)}
	if *join != "" {
		options = append(options, app.WithCluster([]string{*join}))
	}
	a, err := app.New(*dir, options...)
	check(err)
	check(a.Ready(context.Background()))
	db, err := a.Open(context.Background(), "demo")
	check(err)

	n := node{a, db}
	http.HandleFunc("/exec", n.serve(n.exec))
	http.HandleFunc("/query", n.serve(n.query))
	http.HandleFunc("/state", n.serve(n.state))
	http.HandleFunc("/lead", n.serve(n.lead))
	check(http.Serve(listener, nil))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// endWithInput lets no node outlive the program that started it.
func endWithInput() {
	io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func (n node) serve(answer func(context.Context, statement) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		var s statement
		var result any
		err := json.NewDecoder(r.Body).Decode(&s)
		if err == nil || r.Method == http.MethodGet {
			result, err = answer(ctx, s)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		json.NewEncoder(w).Encode(result)
	}
}

func (n node) exec(ctx context.Context, s statement) (any, error) {
	result, err := n.db.ExecContext(ctx, s.SQL, s.Args...)
	if err != nil {
		return nil, err
	}
	return result.RowsAffected()
}

func (n node) query(ctx context.Context, s statement) (any, error) {
	rows, err := n.db.QueryContext(ctx, s.SQL, s.Args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	all := [][]any{}
	for rows.Next() {
		row := make([]any, len(columns))
		places := make([]any, len(columns))
		for i := range row {
			places[i] = &row[i]
		}
		if err := rows.Scan(places...); err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

func (n node) state(ctx context.Context, _ statement) (any, error) {
	leader, err := n.app.Leader(ctx)
	if err != nil {
		return nil, err
	}
	defer leader.Close()
	info, err := leader.Leader(ctx)
	if err != nil {
		return nil, err
	}
	nodes, err := leader.Cluster(ctx)
	voters := 0
	for _, each := range nodes {
		if each.Role == client.Voter {
			voters++
		}
	}
	return map[string]any{"leader": info.Address, "voters": voters}, err
}

func (n node) lead(ctx context.Context, _ statement) (any, error) {
	leader, err := n.app.Leader(ctx)
	if err != nil {
		return nil, err
	}
	defer leader.Close()
	return n.app.Address(), leader.Transfer(ctx, n.app.ID())
}
