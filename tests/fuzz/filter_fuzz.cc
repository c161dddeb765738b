// Passes the bytes to SQL functions as a filter. Every function must reject bytes that are not a
// filter. For filters, properties must hold.
//
// Input: whether to repair the checksums and the length, a choice, a key, the filter.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/filter/filter.h"
#include "tests/fuzz/bounded_database.h"
#include "tests/fuzz/input.h"

namespace bloom::fuzz {
namespace {

constexpr std::size_t kLongestFilter = 4096;
constexpr std::size_t kKeyBytes = 4;

// Each is 1 of every filter ?1 (of these kinds) and key ?2. A merged filter has another target than
// those that it is made of, if they had half of one: its cells are compared.
#define CELLS(filter) "substr(" filter ", 65)"
#define ADDED "bloom_add(?1, ?2)"

constexpr const char* kOfAll[] = {
    "bloom_contains(" ADDED ", ?2) AND bloom_check(" ADDED ") = 'ok'",
    CELLS("bloom_add(?1, NULL)") " = " CELLS("?1"),
    CELLS("bloom_intersect(?1, ?1)") " = " CELLS("?1"),
    CELLS("bloom_intersect(?1, " ADDED ")") " = " CELLS("?1"),
    "json_valid(bloom_info(?1)) AND coalesce(bloom_count(?1), 0) >= 0 AND bloom_fpr(?1) BETWEEN 0 "
    "AND 1",
    "bloom_contains(?1, ?2) = (SELECT min(value) > 0 FROM bloom_positions(?1, ?2))",
    "bloom_contains(?1, ?2) = bloom_contains((SELECT bloom_open(?1)), ?2)",
    "bloom_apply(?1, bloom_delta(?1, " ADDED ")) = " ADDED " AND bloom_apply(" ADDED
    ", bloom_delta(" ADDED ", ?1)) = bloom_add(?1, NULL)",
    "bloom_contains_all(" ADDED ", ?2, 7) = bloom_contains(" ADDED
    ", 7)"
    " AND bloom_contains_any(" ADDED ", 7, ?2)",
    "(SELECT bloom_build(column1, ?1) FROM (VALUES (?2), (NULL))) = " ADDED,
    "(SELECT bloom_union(column1) FROM (VALUES (?1), (NULL), (" ADDED "))) = bloom_union(?1, " ADDED
    ")",
};
constexpr const char* kOfBits[] = {
    CELLS("bloom_union(?1, ?1)") " = " CELLS("?1"),
    CELLS("bloom_union(?1, " ADDED ")") " = " CELLS(ADDED),
    "bloom_add(" ADDED ", ?2) = " ADDED,
};
constexpr const char* kOfCounters[] = {
    "bloom_contains(bloom_standard(?1), ?2) = bloom_contains(?1, ?2)",
    "bloom_count(bloom_standard(?1)) IS bloom_count(?1)",
    CELLS("bloom_intersect(?1, bloom_remove(" ADDED ", ?2))") " = " CELLS("?1"),
    CELLS("bloom_intersect(bloom_union(?1, " ADDED "), " ADDED ")") " = " CELLS(ADDED),
};
constexpr const char* kOfHalvable[] = {
    "bloom_halve(" ADDED ") = bloom_add(bloom_halve(?1), ?2)",
    "bloom_contains(bloom_halve(" ADDED "), ?2)",
    "bloom_contains(bloom_fold(" ADDED ", 0.1), ?2)",
    CELLS("bloom_intersect(?1, bloom_halve(?1))") " = " CELLS("?1"),
};

class Properties {
 public:
  template <std::size_t n>
  Properties(const BoundedDatabase& database, const char* const (&texts)[n]) {
    for (const char* text : texts) {
      texts_.emplace_back(text);
      statements_.emplace_back(database, std::string("SELECT ") + text);
      require(statements_.back().is_prepared(), text);
    }
  }

  // One of them, or an error where `may_fail`.
  void check(unsigned choice, const std::vector<std::uint8_t>& filter, std::string_view key,
             bool may_fail = false) {
    const std::size_t i = choice % texts_.size();
    Statement& statement = statements_[i];
    const int code = statement.bind(1, filter).bind(2, key).step();
    if (code == SQLITE_ROW) {
      require(statement.integer(0) == 1, texts_[i]);
    } else {
      require(may_fail && code == SQLITE_ERROR, texts_[i] + " gave an error");
    }
    statement.reset();
  }

 private:
  std::vector<std::string> texts_;
  std::vector<Statement> statements_;
};

// Every function that the extension has, called with the filter and the key in turn.
class Functions {
 public:
  explicit Functions(const BoundedDatabase& database) {
    Statement list(database,
                   "SELECT DISTINCT name, narg FROM pragma_function_list"
                   " WHERE name LIKE 'bloom%' AND narg <> 0 ORDER BY 1, 2");
    while (list.step() == SQLITE_ROW) {
      add(database, std::string(list.text(0)), list.integer(1));
    }
    add(database, "* FROM bloom_positions", 2);
    add(database, "* FROM bloom_plan", 2);
    add(database, "* FROM bloom_stats", 1);
    require(functions_.size() > 30, "the functions are missing");
  }

  void call(unsigned choice, const std::vector<std::uint8_t>& filter, std::string_view key,
            bool is_filter) {
    Function& function = functions_[choice % functions_.size()];
    const int code = function.statement.bind(1, filter).bind(2, key).step();
    const bool answered = code == SQLITE_ROW || code == SQLITE_DONE;
    require(answered || is_expected_error(code),
            function.name + " failed with a code that it must not");
    require(is_filter || !answered || function.takes_any_bytes,
            function.name + " took for a filter what is none");
    function.statement.reset();
  }

 private:
  struct Function {
    std::string name;
    Statement statement;
    bool takes_any_bytes;
  };

  void add(const BoundedDatabase& database, const std::string& name, std::int64_t arguments) {
    std::string list = "?1";
    for (std::int64_t i = 1; i < (arguments < 0 ? 3 : arguments); ++i) {
      list += i % 2 == 0 ? ", ?1" : ", ?2";
    }
    Statement statement(database, std::string("SELECT ").append(name).append("(" + list + ")"));
    require(statement.is_prepared(), name);
    const bool any = name == "bloom_build" || name == "bloom_key" || name == "bloom_check" ||
                     name == "bloom_search_match";  // takes texts
    functions_.push_back({name, std::move(statement), any});
  }

  std::vector<Function> functions_;
};

struct Target {
  BoundedDatabase database;
  Functions functions{database};
  Properties of_all{database, kOfAll};
  Properties of_bits{database, kOfBits};
  Properties of_counters{database, kOfCounters};
  Properties of_halvable{database, kOfHalvable};

  void run(Input input) {
    const unsigned repairs = input.byte();
    const unsigned choice = input.byte();
    const auto key_bytes = input.take(kKeyBytes);
    const std::string_view key(reinterpret_cast<const char*>(key_bytes.data()), key_bytes.size());
    const auto rest = input.rest();
    std::vector<std::uint8_t> filter(rest.begin(), rest.end());
    if ((repairs & 2) != 0) {
      repair_length(filter, kLongestFilter);
    }
    if ((repairs & 1) != 0) {
      repair_checksums(filter);
    }
    const auto opened = open_filter(filter);
    const bool has_header = std::holds_alternative<FilterView>(opened);
    const bool accepted = has_header && !find_damage(std::get<FilterView>(opened));
    // One check per input: more inputs per second find more.
    constexpr unsigned kSorts = 4;
    const unsigned sort = accepted ? choice % kSorts : 0;
    const unsigned number = choice / kSorts;
    if (sort == 0) {
      // Lookups do not verify the checksum of the cells.
      functions.call(accepted ? number : choice, filter, key, has_header);
    } else if (sort == 1) {
      of_all.check(number, filter, key);
    } else if (sort == 2) {
      (is_counting(filter) ? of_counters : of_bits).check(number, filter, key);
    } else {
      of_halvable.check(number, filter, key, true);
    }
  }

  static bool is_counting(const std::vector<std::uint8_t>& filter) {
    return Kind{filter.at(6)} == Kind::counting;  // docs/format.md
  }
};

}  // namespace
}  // namespace bloom::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static auto* const target = new bloom::fuzz::Target;
  target->run({bytes, size});
  return 0;
}
