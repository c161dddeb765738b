%% escript erlang.escript
main([]) ->
    {ok, Db} = sqlite3:open(db, [in_memory]),
    ok = sqlite3:enable_load_extension(Db, 1),
    [{columns, _} | _] = sqlite3:sql_exec(Db, "SELECT load_extension('./bloom')"),
    ok = sqlite3:sql_exec(Db, "CREATE TABLE items(code)"),
    ok = sqlite3:sql_exec(Db, "CREATE VIRTUAL TABLE items_seen USING bloom(source=items, column=code)"),
    {rowid, _} = sqlite3:sql_exec(Db, "INSERT INTO items VALUES ('Bonn')"),
    lists:foreach(fun(Key) -> io:format("~s ~b~n", [Key, found(Db, Key)]) end, ["Bonn", "Rome"]).

found(Db, Key) ->
    [_, {rows, [{Count}]}] = sqlite3:sql_exec(Db, "SELECT count(*) FROM items_seen WHERE key = ?", [Key]),
    Count.
