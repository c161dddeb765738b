/* A program with the extension built in: every connection that it opens has it.
 *   embed SQL    runs SQL in a database in memory and prints the rows
 * CMakeLists.txt beside it builds it with an installed sqlite-bloom; with pkg-config that is
 *   cc embed.c $(pkg-config --cflags --libs sqlite-bloom sqlite3) -o embed */
#include <sqlite3.h>
#include <sqlite_bloom.h>
#include <stdio.h>

static int print_row(void* unused, int columns, char** values, char** names) {
  (void)unused;
  (void)names;
  for (int i = 0; i < columns; ++i) {
    printf("%s%s", i > 0 ? "|" : "", values[i] ? values[i] : "");
  }
  putchar('\n');
  return 0;
}

int main(int argc, char** argv) {
  sqlite3* db = NULL;
  char* error = NULL;
  if (argc != 2) {
    fprintf(stderr, "usage: embed SQL\n");
    return 2;
  }
  sqlite3_auto_extension((void (*)(void))sqlite3_bloom_init);
  int code = sqlite3_open(":memory:", &db);
  if (code == SQLITE_OK) {
    code = sqlite3_exec(db, argv[1], print_row, NULL, &error);
  }
  if (code != SQLITE_OK) {
    fprintf(stderr, "embed: %s\n", error ? error : sqlite3_errmsg(db));
  }
  sqlite3_free(error);
  sqlite3_close(db);
  return code == SQLITE_OK ? 0 : 1;
}
