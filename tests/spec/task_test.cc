#include "spec/task.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace berth {
namespace {

class Tasks : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "berth-tasks-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    std::ofstream(folder_ + "/train.py") << "";
    std::ofstream(folder_ + "/it's me.py") << "";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Result<std::vector<Task>> read(const std::string& rows, TaskFormat format = {}) const {
    std::string text = rows;
    for (std::size_t at = 0; (at = text.find("DIR", at)) != text.npos;) {
      text.replace(at, 3, folder_);
    }
    format.python = "sh";
    return read_tasks(text, format);
  }

  std::string folder_;
};

constexpr const char* kHeader = "Directory,Executable,Filename,Epochs,Priority\n";

TEST_F(Tasks, AreFoundByTheNamesOfTheColumns) {
  const auto tasks =
      read("priority,FILENAME,Note, Epochs ,Executable,Directory\n-5,train.py,x,3,-1,DIR\n");
  ASSERT_TRUE(tasks) << tasks.error().message;
  ASSERT_EQ(tasks->size(), 1U);
  const Task& task = tasks->front();
  EXPECT_EQ(task.line, 2U);
  EXPECT_EQ(task.directory, folder_);
  EXPECT_EQ(task.executable, "sh");
  EXPECT_EQ(task.priority, -5);
  EXPECT_EQ(task.epochs, 3);
  EXPECT_EQ(task.command(2, 7), "cd " + folder_ + " && exec sh train.py --epochs=2 --id=7");
}

TEST_F(Tasks, AreFoundByPlaceWithoutAHeader) {
  TaskFormat format;
  format.header.reset();
  const auto tasks = read("DIR,/bin/sh,train.py,3,1\n", format);
  ASSERT_TRUE(tasks) << tasks.error().message;
  EXPECT_EQ(tasks->front().executable, "/bin/sh");
}

TEST_F(Tasks, HeaderInALaterRow) {
  TaskFormat format;
  format.header = 1;
  const auto tasks =
      read("written by hand\n\n" + std::string(kHeader) + "DIR,-1,train.py,3,1\n", format);
  ASSERT_TRUE(tasks) << tasks.error().message;
  EXPECT_EQ(tasks->front().line, 4U);
  format.header = 9;
  EXPECT_FALSE(read(kHeader, format));
}

TEST_F(Tasks, WordsAreQuotedForTheShell) {
  const auto tasks = read(std::string(kHeader) + "DIR,-1,it's me.py,3,1\n");
  ASSERT_TRUE(tasks) << tasks.error().message;
  EXPECT_EQ(tasks->front().script(), "cd " + folder_ + " && exec sh 'it'\\''s me.py'");
}

TEST_F(Tasks, ArgumentsMayFollowTheProgramAndTheScript) {
  const auto tasks = read(std::string(kHeader) + "DIR,sh -e,train.py --lr 0.1 'a b',3,1\n" +
                          "DIR,-1,\"train.py \"\"x  y\"\" \\$z\",3,1\n");
  ASSERT_TRUE(tasks) << tasks.error().message;
  EXPECT_EQ((*tasks)[0].command(2, 7),
            "cd " + folder_ + " && exec sh -e train.py --lr 0.1 'a b'" + " --epochs=2 --id=7");
  EXPECT_EQ((*tasks)[1].script(), "cd " + folder_ + " && exec sh train.py 'x  y' '$z'");
  const auto wrong = read(std::string(kHeader) + "DIR,sh -e,other.py --lr 0.1,3,1\n" +
                          "DIR,nosuch -e,train.py 'x,3,1\n");
  ASSERT_FALSE(wrong);
  for (const char* expected :
       {"line 2 has the Filename 'other.py', which is not in", "line 3 has the Executable 'nosuch'",
        "line 3 has 'train.py 'x' as Filename: a quote is not closed"}) {
    EXPECT_NE(wrong.error().message.find(expected), std::string::npos) << wrong.error().message;
  }
}

TEST_F(Tasks, RecipesLeaveOutEpochsAndIds) {
  const auto tasks = read(std::string(kHeader) + "DIR,-1,train.py,3,1\n");
  ASSERT_TRUE(tasks);
  const Recipe recipe = task_recipe("", tasks->front().command(3, 1));
  EXPECT_EQ(recipe.key, task_recipe("", tasks->front().command(2, 99)).key);
  EXPECT_EQ(recipe.key, script_recipe(tasks->front().script()).key);
  EXPECT_TRUE(recipe.numbers.empty());
}

TEST_F(Tasks, AFolderHasOneName) {
  const auto tasks = read(std::string(kHeader) + "DIR,-1,train.py,3,1\nDIR/,-1,train.py,3,1\n" +
                          "DIR/./x/..,-1,train.py,3,1\n");
  ASSERT_TRUE(tasks) << tasks.error().message;
  EXPECT_EQ((*tasks)[1].script(), (*tasks)[0].script());
  EXPECT_EQ((*tasks)[2].script(), (*tasks)[0].script());
}

TEST_F(Tasks, FingerprintsTellRowsApart) {
  const auto tasks = read(std::string(kHeader) + "DIR,-1,train.py,3,1\nDIR,-1,train.py,1,3\n" +
                          " DIR , \"-1\",train.py,3,1\n");
  ASSERT_TRUE(tasks);
  EXPECT_NE((*tasks)[0].fingerprint, (*tasks)[1].fingerprint);
  EXPECT_EQ((*tasks)[0].fingerprint, (*tasks)[2].fingerprint);
}

TEST_F(Tasks, AllThatIsWrongIsNamed) {
  const auto tasks = read(std::string(kHeader) +
                          "DIR,-1,train.py,three,1\n"           // 2
                          "DIR,-1,train.py,3,high\n"            // 3
                          "DIR/nowhere,-1,train.py,3,1\n"       // 4
                          "DIR,-1,other.py,3,1\n"               // 5
                          "DIR,no-such-program,train.py,3,1\n"  // 6
                          "DIR,./train.py,train.py,3,1\n"       // 7: not executable
                          "DIR,-1,train.py,3\n"                 // 8
                          "DIR,-1,train.py,3,1\n"               // 9: right
                          "DIR,-1,train.py,0,99999999\n"        // 10: twice wrong
                          ",,,3,1\n"                            // 11
                          "DIR,-1,\"train.py\"x,3,1\n");        // 12
  ASSERT_FALSE(tasks);
  EXPECT_EQ(tasks.error().code, ErrorCode::Usage);
  const std::string& text = tasks.error().message;
  for (const char* expected :
       {"line 2 has 'three' as Epochs", "line 3 has 'high' as Priority",
        "/nowhere', which is not there", "line 5 has the Filename 'other.py'",
        "line 6 has the Executable 'no-such-program', which is not in the PATH",
        "line 7 has the Executable './train.py', which is not a program",
        "line 8 has 4 columns, not 5", "line 10 has '0' as Epochs", "line 10 has '99999999'",
        "line 11 has no Directory", "line 11 has no Executable", "line 12 has text after"}) {
    EXPECT_NE(text.find(expected), text.npos) << expected << " is not in " << text;
  }
  EXPECT_EQ(text.find("line 9 "), text.npos) << text;
}

TEST_F(Tasks, MissingColumnsAreNamed) {
  const auto tasks = read("DIR,-1,train.py,3,1\n");
  ASSERT_FALSE(tasks);
  EXPECT_NE(tasks.error().message.find("--header None"), std::string::npos);
}

}  // namespace
}  // namespace berth
