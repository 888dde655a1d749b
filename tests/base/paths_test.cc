// Where berth keeps its things.
#include "base/paths.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

namespace berth {
namespace {

/// The environment of one case: these variables, and no other of those that matter.
void set_variables(const std::map<std::string, std::string>& variables) {
  for (const char* name :
       {"BERTH_HOME", "HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"}) {
    const auto found = variables.find(name);
    found == variables.end() ? ::unsetenv(name) : ::setenv(name, found->second.c_str(), 1);
  }
}

TEST(PathsTest, BerthHomeMovesEverything) {
  set_variables({{"BERTH_HOME", "/b//x/../y"}, {"HOME", "/h"}, {"XDG_STATE_HOME", "/s"}});
  const Paths paths = find_paths().value();
  EXPECT_EQ(paths.state, "/b/y");
  EXPECT_EQ(paths.config, "/b/y");
  EXPECT_EQ(paths.runtime, "/b/y");
}

TEST(PathsTest, ARelativeHomeBecomesAbsolute) {
  set_variables({{"BERTH_HOME", "here"}});
  EXPECT_EQ(find_paths().value().state, std::filesystem::current_path().string() + "/here");
}

TEST(PathsTest, XdgFolders) {
  set_variables({{"HOME", "/h"},
                 {"XDG_STATE_HOME", "/s"},
                 {"XDG_CONFIG_HOME", "/c"},
                 {"XDG_RUNTIME_DIR", "/r"}});
  const Paths paths = find_paths().value();
  EXPECT_EQ(paths.state, "/s/berth");
  EXPECT_EQ(paths.config, "/c/berth");
  EXPECT_EQ(paths.runtime, "/r/berth");
}

TEST(PathsTest, DefaultsInHome) {
  set_variables({{"HOME", "/h"}, {"XDG_STATE_HOME", "relative"}, {"BERTH_HOME", ""}});
  const Paths paths = find_paths().value();
  EXPECT_EQ(paths.state, "/h/.local/state/berth");
  EXPECT_EQ(paths.config, "/h/.config/berth");
  EXPECT_EQ(paths.runtime, "/h/.local/state/berth");
}

TEST(PathsTest, FoldersAreForTheUserAlone) {
  std::string pattern = ::testing::TempDir() + "berth-paths-XXXXXX";
  const std::string root = ::mkdtemp(pattern.data());
  ASSERT_TRUE(make_folder(root + "/a/b").has_value());
  ASSERT_TRUE(make_folder(root + "/a/b").has_value());
  for (const char* name : {"/a", "/a/b"}) {
    struct stat info {};
    ASSERT_EQ(::stat((root + name).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700U);
  }
  std::ofstream(root + "/file") << "x";
  EXPECT_FALSE(make_folder(root + "/file").has_value());
  EXPECT_FALSE(make_folder(root + "/file/below").has_value());
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace berth
