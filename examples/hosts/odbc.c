/* cc odbc.c -lodbc -o odbc && ./odbc */
#include <sql.h>
#include <sqlext.h>
#include <stdio.h>

int main(void) {
  static char* const statements[] = {
      "CREATE TABLE items(code)",
      "CREATE VIRTUAL TABLE items_seen USING bloom(source=items, column=code)",
      "INSERT INTO items VALUES ('Bonn')"};
  static char* const keys[] = {"Bonn", "Rome"};
  SQLHENV environment;
  SQLHDBC db;
  SQLHSTMT query;
  SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &environment);
  SQLSetEnvAttr(environment, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)SQL_OV_ODBC3, 0);
  SQLAllocHandle(SQL_HANDLE_DBC, environment, &db);
  SQLDriverConnect(db, NULL, (SQLCHAR*)"Driver=SQLite3;Database=:memory:;LoadExt=./bloom.so", SQL_NTS, NULL, 0, NULL,
                   SQL_DRIVER_NOPROMPT);
  SQLAllocHandle(SQL_HANDLE_STMT, db, &query);
  for (int i = 0; i < 3; i++) SQLExecDirect(query, (SQLCHAR*)statements[i], SQL_NTS);
  for (int i = 0; i < 2; i++) {
    SQLINTEGER found = -1;
    SQLBindParameter(query, 1, SQL_PARAM_INPUT, SQL_C_CHAR, SQL_VARCHAR, 10, 0, keys[i], 0, NULL);
    SQLExecDirect(query, (SQLCHAR*)"SELECT count(*) FROM items_seen WHERE key = ?", SQL_NTS);
    SQLFetch(query);
    SQLGetData(query, 1, SQL_C_SLONG, &found, 0, NULL);
    SQLCloseCursor(query);
    printf("%s %d\n", keys[i], (int)found);
  }
  return 0;
}
