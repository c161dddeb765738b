#include "sql/register.h"

#include "sql/functions.h"

namespace bloom {

int register_all(sqlite3* db) {
  for (const auto functions : {filter_functions(), inspect_functions(), formula_functions()}) {
    for (const sqlite::Scalar& function : functions) {
      const int code = sqlite::add_function(db, function);
      if (code != SQLITE_OK) {
        return code;
      }
    }
  }
  const int code = add_aggregates(db);
  return code != SQLITE_OK ? code : add_table_functions(db);
}

}  // namespace bloom
