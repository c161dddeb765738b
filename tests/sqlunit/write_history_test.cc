#include "sql/vtab/write_history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace bloom {
namespace {

TEST(WriteHistory, NestedTransactionsOfAFrameworkUndoNothingOfAReader) {
  WriteHistory history;
  history.begin();
  history.note_write();
  history.savepoint(0);
  const auto moment = history.now();
  history.savepoint(0);  // the first one was released
  history.note_write();
  history.rolled_back_to(0);
  EXPECT_FALSE(history.is_undone(moment));
  history.rolled_back();
  EXPECT_TRUE(history.is_undone(moment));
}

TEST(WriteHistory, ACommitKeepsWhatWasRead) {
  WriteHistory history;
  history.begin();
  history.note_write();
  const auto moment = history.now();
  history.begin();
  history.note_write();
  history.rolled_back();
  EXPECT_FALSE(history.is_undone(moment));
}

TEST(WriteHistory, AReaderGoesOnAfterAnyNumberOfFailedStatements) {
  WriteHistory history;
  history.begin();
  const auto fail = [&] {
    history.note_write();
    history.savepoint(0);
    history.note_write();
    history.rolled_back_to(0);
  };
  fail();
  const auto moment = history.now();
  for (int i = 0; i < 1000; ++i) {
    fail();
    EXPECT_FALSE(history.is_undone(moment));
  }
  history.rolled_back();
  EXPECT_TRUE(history.is_undone(moment));
}

TEST(WriteHistory, ARollbackToASavepointThatIsStillOpenUndoesWhatCameAfterTheLastOne) {
  WriteHistory history;
  history.begin();
  history.savepoint(0);
  history.note_write();
  history.rolled_back_to(0);
  const auto before = history.now();
  history.note_write();
  const auto after = history.now();
  history.rolled_back_to(0);
  EXPECT_FALSE(history.is_undone(before));
  EXPECT_TRUE(history.is_undone(after));
}

// A list of the writes that are not undone is the oracle.
struct Model {
  struct Reader {
    WriteHistory::Moment moment;
    std::set<int> read;
    bool is_undone = false;
  };

  void undo(std::size_t kept) {
    for (Reader& reader : readers) {
      for (std::size_t i = kept; i < writes.size(); ++i) {
        reader.is_undone = reader.is_undone || reader.read.contains(writes[i]);
      }
    }
    writes.resize(kept);
  }

  std::vector<int> writes;
  std::size_t at_begin = 0;
  std::vector<std::size_t> at_savepoints;
  std::vector<Reader> readers;
};

// Returns for how many readers the history was too careful.
int check_at_random(unsigned seed, int steps) {
  std::mt19937 random(seed);
  WriteHistory history;
  Model model;
  int next = 0;
  for (int step = 0; step < steps; ++step) {
    const auto depth = static_cast<int>(model.at_savepoints.size());
    const auto any = static_cast<int>(random() % static_cast<unsigned>(std::max(depth, 1)));
    const auto place = static_cast<std::size_t>(any);
    switch (random() % 8) {
      case 0:
      case 1:
        history.note_write();
        model.writes.push_back(next++);
        break;
      case 2:
        model.readers.push_back({history.now(), {model.writes.begin(), model.writes.end()}});
        break;
      case 3:
        history.savepoint(depth);
        model.at_savepoints.push_back(model.writes.size());
        break;
      case 4:
        if (depth != 0) {
          model.at_savepoints.resize(place);
        }
        break;
      case 5:
        if (depth != 0) {
          history.rolled_back_to(any);
          model.undo(model.at_savepoints[place]);
          model.at_savepoints.resize(place + 1);
        }
        break;
      default:
        if (random() % 10 == 0) {
          const bool commits = random() % 2 == 0;
          commits ? history.begin() : history.rolled_back();
          if (!commits) {
            model.undo(model.at_begin);
            history.begin();
          }
          model.at_begin = model.writes.size();
          model.at_savepoints.clear();
        }
    }
    for (const Model::Reader& reader : model.readers) {
      EXPECT_TRUE(!reader.is_undone || history.is_undone(reader.moment)) << seed << " " << step;
    }
  }
  return static_cast<int>(
      std::count_if(model.readers.begin(), model.readers.end(), [&](const Model::Reader& reader) {
        return !reader.is_undone && history.is_undone(reader.moment);
      }));
}

TEST(WriteHistory, NoUndoneWriteIsMissed) {
  int too_careful = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    too_careful += check_at_random(seed, 200);
  }
  EXPECT_LT(too_careful, 500);  // of about 5,000
  for (unsigned seed = 0; seed < 5; ++seed) {
    check_at_random(seed, 3000);
  }
}

TEST(WriteHistory, ManyRollbacksAreRememberedInPart) {
  WriteHistory history;
  history.begin();
  std::vector<WriteHistory::Moment> moments;
  for (int i = 0; i < 1000; ++i) {
    history.note_write();
    history.savepoint(0);
    history.note_write();
    moments.push_back(history.now());
    history.rolled_back_to(0);
  }
  for (const auto& moment : moments) {
    EXPECT_TRUE(history.is_undone(moment));
  }
  EXPECT_FALSE(history.is_undone(history.now()));
}

}  // namespace
}  // namespace bloom
