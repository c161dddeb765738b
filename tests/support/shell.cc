// The part of the sqlite3 shell that the tests use, for any version of SQLite and any machine. The
// shell of a distribution refuses to run with another version of the library.
//   shell [-batch] [-init FILE] [-cmd COMMAND]... DATABASE < SCRIPT
// Prints rows in list mode, and plans as a tree. After an error, skips the other statements of the
// line and continues with the script. Uses the locale of the environment, as many programs do.
#include <sqlite3.h>
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#endif

#include <clocale>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

void report(sqlite3* db, int code, int line) {
  std::cerr << "Error near line " << line << ": " << sqlite3_errmsg(db);
  if (code != SQLITE_ERROR) {
    std::cerr << " (" << code << ")";
  }
  std::cerr << "\n";
}

std::string text_of(sqlite3_stmt* statement, int column) {
  const unsigned char* text = sqlite3_column_text(statement, column);
  return text == nullptr ? "" : reinterpret_cast<const char*>(text);
}

void print_row(sqlite3_stmt* statement) {
  for (int i = 0; i < sqlite3_column_count(statement); ++i) {
    std::cout << (i > 0 ? "|" : "") << text_of(statement, i);
  }
  std::cout << "\n";
}

// A row of EXPLAIN QUERY PLAN.
struct Step {
  int id;
  int parent;
  std::string detail;
};

Step step_of(sqlite3_stmt* statement) {
  return {sqlite3_column_int(statement, 0), sqlite3_column_int(statement, 1),
          text_of(statement, 3)};
}

void print_plan(const std::vector<Step>& plan, int parent, const std::string& indent) {
  std::vector<Step> children;
  for (const Step& step : plan) {
    if (step.parent == parent) {
      children.push_back(step);
    }
  }
  for (std::size_t i = 0; i < children.size(); ++i) {
    const bool is_last = i + 1 == children.size();
    std::cout << indent << (is_last ? "`--" : "|--") << children[i].detail << "\n";
    print_plan(plan, children[i].id, indent + (is_last ? "   " : "|  "));
  }
}

int run_prepared(sqlite3_stmt* statement) {
  const bool is_plan = sqlite3_stmt_isexplain(statement) == 2;
  std::vector<Step> plan;
  while (sqlite3_step(statement) == SQLITE_ROW) {
    if (is_plan) {
      plan.push_back(step_of(statement));
    } else {
      print_row(statement);
    }
  }
  if (!plan.empty()) {
    std::cout << "QUERY PLAN\n";
    print_plan(plan, 0, "");
  }
  return sqlite3_finalize(statement);
}

void run_sql(sqlite3* db, const std::string& sql, int line) {
  const char* rest = sql.c_str();
  while (*rest != '\0') {
    sqlite3_stmt* statement = nullptr;
    int code = sqlite3_prepare_v2(db, rest, -1, &statement, &rest);
    if (code == SQLITE_OK) {
      code = run_prepared(statement);
    }
    if (code != SQLITE_OK) {
      report(db, code, line);
      return;
    }
  }
}

void load(sqlite3* db, const std::string& file) {
  char* problem = nullptr;
  if (sqlite3_load_extension(db, file.c_str(), nullptr, &problem) != SQLITE_OK) {
    std::cerr << "Error: " << problem << "\n";
    std::exit(1);
  }
}

void run_command(sqlite3* db, const std::string& line) {
  std::istringstream words(line);
  std::string command;
  std::string name;
  std::string value;
  words >> command >> name >> value;
  if (command == ".load") {
    load(db, line.substr(command.size() + 1));
  } else if (command == ".print") {
    std::cout << (name.empty() ? "" : line.substr(command.size() + 1)) << "\n";
  } else if (command == ".limit" && name == "length") {
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, std::stoi(value));
    std::printf("%20s %s\n", name.c_str(), value.c_str());
  } else if (command == ".dbconfig" && name == "defensive") {
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, value == "on" ? 1 : 0, nullptr);
    std::printf("%19s %s\n", name.c_str(), value.c_str());
  } else if (line != ".mode list" && line != ".bail off") {
    std::cerr << "Error: unknown command " << line << "\n";
    std::exit(1);
  }
}

bool is_blank(const std::string& line) {
  return line.starts_with("--") || line.find_first_not_of(' ') == std::string::npos;
}

void run_script(sqlite3* db, std::istream& script) {
  std::string sql;
  int number = 0;
  for (std::string line; std::getline(script, line);) {
    ++number;
    if (sql.empty() && line.starts_with('.')) {
      run_command(db, line);
    } else if (!sql.empty() || !is_blank(line)) {
      sql += line + "\n";
      if (sqlite3_complete(sql.c_str()) != 0) {
        run_sql(db, sql, number);
        sql.clear();
      }
    }
  }
  run_sql(db, sql, number);
}

}  // namespace

int main(int count, char** arguments) {
  std::setlocale(LC_ALL, "");
  std::ios::sync_with_stdio(true);
#ifdef _WIN32
  // Lines end as on Linux. Windows has no line buffering.
  _setmode(_fileno(stdout), _O_BINARY);
  _setmode(_fileno(stderr), _O_BINARY);
  std::setvbuf(stdout, nullptr, _IONBF, 0);
#else
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
#endif
  sqlite3* db = nullptr;
  if (sqlite3_open(arguments[count - 1], &db) != SQLITE_OK) {
    std::cerr << "Error: " << sqlite3_errmsg(db) << "\n";
    return 1;
  }
  sqlite3_enable_load_extension(db, 1);
  for (int i = 1; i + 1 < count; ++i) {
    if (std::string_view(arguments[i]) == "-cmd") {
      run_command(db, arguments[i + 1]);
    }
  }
  run_script(db, std::cin);
  return sqlite3_close(db);
}
