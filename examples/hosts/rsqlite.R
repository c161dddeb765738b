# Rscript rsqlite.R
library(DBI)

db <- dbConnect(RSQLite::SQLite(), ":memory:", loadable.extensions = TRUE)
invisible(dbGetQuery(db, "SELECT load_extension('./bloom')"))
for (sql in c("CREATE TABLE items(code)",
              "CREATE VIRTUAL TABLE items_seen USING bloom(source=items, column=code)",
              "INSERT INTO items VALUES ('Bonn')")) invisible(dbExecute(db, sql))
for (key in c("Bonn", "Rome"))
  cat(key, dbGetQuery(db, "SELECT count(*) AS found FROM items_seen WHERE key = ?", params = list(key))$found, fill = TRUE)
