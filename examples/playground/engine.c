/* What the page needs besides SQLite and the extension: a database that has both, and the lines of
 * a file as a table. The page calls the rest of SQLite's interface itself (sqlite.js). */
#include <emscripten.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "ext/sqlite_bloom.h"

/* Puts the next bytes of the file at `into`, at most `room`; returns how many, 0 at its end. */
EM_JS(int, next_bytes, (unsigned char* into, int room), { return Module.nextBytes(into, room); });

/* Hands the page the SQL of a statement that has ended. */
EM_JS(void, statement_ended, (const char* sql), { Module.statementEnded(sql); });

/* SELECT line FROM lines: what stands between newlines, without a carriage return at the end. A
 * file is read once, from its beginning to its end, whatever its size; one line is in memory at a
 * time. */
enum { kSlice = 1 << 20, kLongest = 1 << 28 };

typedef struct {
  sqlite3_vtab_cursor base;
  char* bytes;
  int room, filled, start, length; /* of the line, within the bytes */
  sqlite3_int64 row;
  int file_ended, ended;
} Lines;

static int lines_connect(sqlite3* db, void* context, int argc, const char* const* argv,
                         sqlite3_vtab** table, char** error) {
  (void)context, (void)argc, (void)argv, (void)error;
  *table = sqlite3_malloc(sizeof **table);
  if (*table == NULL) {
    return SQLITE_NOMEM;
  }
  memset(*table, 0, sizeof **table);
  return sqlite3_declare_vtab(db, "CREATE TABLE lines(line TEXT)");
}

static int lines_disconnect(sqlite3_vtab* table) {
  sqlite3_free(table);
  return SQLITE_OK;
}

static int lines_best_index(sqlite3_vtab* table, sqlite3_index_info* info) {
  (void)table;
  info->estimatedCost = 1e6;
  return SQLITE_OK;
}

static int lines_open(sqlite3_vtab* table, sqlite3_vtab_cursor** cursor) {
  (void)table;
  Lines* lines = calloc(1, sizeof *lines);
  *cursor = &lines->base;
  return lines == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

static int lines_close(sqlite3_vtab_cursor* cursor) {
  free(((Lines*)cursor)->bytes);
  free(cursor);
  return SQLITE_OK;
}

/* Brings more bytes behind those that are left; makes room where they fill it. */
static int read_on(Lines* lines) {
  const int left = lines->filled - lines->start;
  if (lines->start > 0) {
    memmove(lines->bytes, lines->bytes + lines->start, (size_t)left);
  }
  lines->start = 0;
  lines->filled = left;
  if (left == lines->room) {
    const int room = lines->room == 0 ? kSlice : 2 * lines->room;
    char* const bytes = room > kLongest ? NULL : realloc(lines->bytes, (size_t)room);
    if (bytes == NULL) {
      return SQLITE_TOOBIG;
    }
    lines->bytes = bytes;
    lines->room = room;
  }
  const int got = next_bytes((unsigned char*)lines->bytes + left, lines->room - left);
  lines->file_ended = got == 0;
  lines->filled += got;
  return got < 0 ? SQLITE_IOERR : SQLITE_OK;
}

static int lines_next(sqlite3_vtab_cursor* cursor) {
  Lines* const lines = (Lines*)cursor;
  int searched = 0;
  ++lines->row;
  lines->start += lines->length;
  for (;;) {
    const char* const line = lines->bytes + lines->start;
    const int left = lines->filled - lines->start;
    const char* const newline =
        left > searched ? memchr(line + searched, '\n', (size_t)(left - searched)) : NULL;
    if (newline != NULL || lines->file_ended) {
      lines->length = newline != NULL ? (int)(newline - line) + 1 : left;
      lines->ended = lines->length == 0;
      return SQLITE_OK;
    }
    searched = left;
    const int code = read_on(lines);
    if (code != SQLITE_OK) {
      return code;
    }
  }
}

static int lines_filter(sqlite3_vtab_cursor* cursor, int plan, const char* name, int argc,
                        sqlite3_value** argv) {
  (void)plan, (void)name, (void)argc, (void)argv;
  return lines_next(cursor);
}

static int lines_eof(sqlite3_vtab_cursor* cursor) { return ((Lines*)cursor)->ended; }

static int lines_column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int column) {
  const Lines* const lines = (Lines*)cursor;
  const char* const line = lines->bytes + lines->start;
  int length = lines->length;
  (void)column;
  length -= length > 0 && line[length - 1] == '\n';
  length -= length > 0 && line[length - 1] == '\r';
  sqlite3_result_text(context, line, length, SQLITE_TRANSIENT);
  return SQLITE_OK;
}

static int lines_rowid(sqlite3_vtab_cursor* cursor, sqlite3_int64* row) {
  *row = ((Lines*)cursor)->row;
  return SQLITE_OK;
}

static const sqlite3_module kLines = {
    .xConnect = lines_connect,
    .xBestIndex = lines_best_index,
    .xDisconnect = lines_disconnect,
    .xOpen = lines_open,
    .xClose = lines_close,
    .xFilter = lines_filter,
    .xNext = lines_next,
    .xEof = lines_eof,
    .xColumn = lines_column,
    .xRowid = lines_rowid,
};

static int on_end(unsigned event, void* context, void* statement, void* unexpanded) {
  (void)event, (void)context, (void)unexpanded;
  char* const sql = sqlite3_expanded_sql(statement);
  if (sql != NULL) {
    statement_ended(sql);
    sqlite3_free(sql);
  }
  return 0;
}

/* From now on, hands the page every statement that ends, also those that the extension runs; or
 * none. SQLITE_TRACE_STMT would show the statements of the extension without their values. */
EMSCRIPTEN_KEEPALIVE void trace(sqlite3* db, int is_on) {
  sqlite3_trace_v2(db, is_on ? SQLITE_TRACE_PROFILE : 0, on_end, NULL);
}

/* An empty database in memory; null if there is no memory for it. */
EMSCRIPTEN_KEEPALIVE sqlite3* open_database(void) {
  sqlite3* db = NULL;
  sqlite3_auto_extension((void (*)(void))sqlite3_bloom_init);
  if (sqlite3_open(":memory:", &db) != SQLITE_OK ||
      sqlite3_create_module(db, "lines", &kLines, NULL) != SQLITE_OK) {
    sqlite3_close(db);
    return NULL;
  }
  return db;
}
