#include "base/foreign_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace berth {
namespace {

class ForeignFile : public testing::Test {
 protected:
  ForeignFile() {
    std::string pattern = testing::TempDir() + "foreign-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    std::filesystem::create_directory(folder_ + "/in");
    std::filesystem::create_directory(folder_ + "/out");
    std::ofstream(folder_ + "/in/plain") << "text";
    std::ofstream(folder_ + "/out/secret") << "secret";
    std::filesystem::create_symlink(folder_ + "/out/secret", folder_ + "/in/link");
    std::filesystem::create_symlink("../out", folder_ + "/in/way");
    ::mkfifo((folder_ + "/in/pipe").c_str(), 0600);
    in_ = Fd(::open((folder_ + "/in").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  ~ForeignFile() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
  Fd in_;
};

TEST_F(ForeignFile, ReadsPlainFilesAndNothingElse) {
  EXPECT_EQ(read_below(in_.get(), "plain", 100).value(), "text");
  EXPECT_EQ(read_below(in_.get(), "plain", 2).value(), "te");
  for (const char* path : {"link", "way/secret", "../out/secret", "pipe", "."}) {
    EXPECT_FALSE(open_below(in_.get(), path)) << path;
  }
  EXPECT_FALSE(open_below(in_.get(), folder_ + "/out/secret"));
  EXPECT_EQ(open_below(in_.get(), "none").error().code, ErrorCode::NotFound);
}

TEST_F(ForeignFile, OpensFoldersThroughNoLink) {
  EXPECT_TRUE(open_folder_below(in_.get(), "."));
  EXPECT_FALSE(open_folder_below(in_.get(), "way"));
  EXPECT_FALSE(open_folder_below(in_.get(), "plain"));
}

TEST_F(ForeignFile, MakesAFolderForOneUserThroughNoLink) {
  EXPECT_TRUE(make_folder_below(in_.get(), "mine", ::geteuid()));
  EXPECT_TRUE(make_folder_below(in_.get(), "mine", ::geteuid()));  // there already
  std::filesystem::create_symlink("../out", folder_ + "/in/theirs");
  EXPECT_FALSE(make_folder_below(in_.get(), "theirs", ::geteuid()));
  EXPECT_FALSE(make_folder_below(in_.get(), "plain", ::geteuid()));
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can give a folder away";
  }
  ASSERT_TRUE(make_folder_below(in_.get(), "theirs_now", 65534));
  struct stat info {};
  ASSERT_EQ(::stat((folder_ + "/in/theirs_now").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 65534U);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
  EXPECT_FALSE(make_folder_below(in_.get(), "theirs_now", 12345));
  ASSERT_TRUE(make_folder_below(in_.get(), "mine", 65534));  // never given away before
  ASSERT_EQ(::stat((folder_ + "/in/mine").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 65534U);
}

TEST_F(ForeignFile, RemovesTheNameAndNeverWhatItLeadsTo) {
  EXPECT_FALSE(remove_below(in_.get(), "way/secret"));
  EXPECT_FALSE(remove_below(in_.get(), "../out/secret"));
  EXPECT_TRUE(remove_below(in_.get(), "link"));
  EXPECT_TRUE(remove_below(in_.get(), "plain"));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/out/secret"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/in/plain"));
}

}  // namespace
}  // namespace berth
