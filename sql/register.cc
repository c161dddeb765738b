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
  for (const auto add :
       {add_contains_functions, add_aggregates, add_table_functions, add_table_module}) {
    const int code = add(db);
    if (code != SQLITE_OK) {
      return code;
    }
  }
  return SQLITE_OK;
}

}  // namespace bloom
