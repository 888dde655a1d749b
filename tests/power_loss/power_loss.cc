// What a disk has when the power goes: a library for LD_PRELOAD that keeps, of each file in one
// folder, what was there at its last sync. Whatever was written since then is lost.
//
//   POWER_LOSS_FROM   the folder
//   POWER_LOSS_TO     for each file its contents as of its last sync, named by its inode, and in
//   the
//                     file "names" a line "INODE NAME" for each name that would be found
//
// A name is on the disk when its file or its folder was synced. Nothing reaches the real disk,
// which nobody will ask.
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

namespace fs = std::filesystem;

std::string path_of(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

/// All or nothing, as a disk would have it after a crash of this process, too.
void put_in_place(const std::string& made, const std::string& name) {
  if (::rename(made.c_str(), name.c_str()) != 0) {
    std::abort();
  }
}

void keep_contents(int fd, const struct stat& file, const std::string& to) {
  const std::string made = to + "/half-" + std::to_string(::gettid());
  const int in = ::open(path_of(fd).c_str(), O_RDONLY | O_CLOEXEC);
  const int out = ::open(made.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  off_t at = 0;
  while (
      at<file.st_size&& ::sendfile(out, in, &at, static_cast<std::size_t>(file.st_size - at))> 0) {
  }
  if (in < 0 || out < 0 || at != file.st_size) {
    std::abort();
  }
  ::close(in);
  ::close(out);
  put_in_place(made, to + "/" + std::to_string(file.st_ino));
}

/// All names that the folder has now. A daemon makes its files at its start and never again, so a
/// file that is synced may stand for its folder.
void keep_names(const std::string& from, const std::string& to) {
  const std::string made = to + "/half-names-" + std::to_string(::gettid());
  {
    std::ofstream out(made);
    for (const fs::directory_entry& each : fs::directory_iterator(from)) {
      struct stat file {};
      if (::lstat(each.path().c_str(), &file) == 0 && S_ISREG(file.st_mode)) {
        out << file.st_ino << ' ' << each.path().filename().string() << '\n';
      }
    }
  }
  put_in_place(made, to + "/names");
}

int keep(int fd) {
  const char* from = std::getenv("POWER_LOSS_FROM");
  const char* to = std::getenv("POWER_LOSS_TO");
  std::error_code error;
  const fs::path path = fs::read_symlink(path_of(fd), error);
  struct stat file {};
  if (from == nullptr || to == nullptr || error || ::fstat(fd, &file) != 0) {
    return 0;
  }
  if (S_ISREG(file.st_mode) && path.parent_path() == from) {
    keep_contents(fd, file, to);
  } else if (path != from) {
    return 0;
  }
  keep_names(from, to);
  return 0;
}

}  // namespace

extern "C" int fsync(int fd) { return keep(fd); }
extern "C" int fdatasync(int fd) { return keep(fd); }
