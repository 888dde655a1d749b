#include "base/paths.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

namespace berth {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

Result<std::string> user_home() {
  if (const std::string_view home = variable("HOME"); home.starts_with('/')) {
    return std::string(home);
  }
  if (const passwd* entry = ::getpwuid(::getuid()); entry != nullptr && entry->pw_dir != nullptr) {
    return std::string(entry->pw_dir);
  }
  return fail(ErrorCode::NotFound,
              "no home folder: set HOME, or BERTH_HOME to a folder that berth may use");
}

/// The XDG standard says that a relative path in one of its variables is to be ignored.
std::optional<std::string> xdg(const char* name) {
  const std::string_view value = variable(name);
  if (!value.starts_with('/')) {
    return std::nullopt;
  }
  return fmt::format("{}/berth", value);
}

}  // namespace

Result<Paths> find_paths() {
  if (const std::string_view home = variable("BERTH_HOME"); !home.empty()) {
    // Absolute, because jobs inherit it and run in other folders.
    std::error_code error;
    const std::string folder = std::filesystem::absolute(home, error).lexically_normal().string();
    if (error) {
      return fail_errno(fmt::format("BERTH_HOME '{}'", home), error.value());
    }
    return Paths{folder, folder, folder};
  }
  std::optional<std::string> state = xdg("XDG_STATE_HOME");
  std::optional<std::string> config = xdg("XDG_CONFIG_HOME");
  if (!state || !config) {
    const Result<std::string> home = user_home();
    if (!home) {
      return Failure(home.error());
    }
    state = state.value_or(*home + "/.local/state/berth");
    config = config.value_or(*home + "/.config/berth");
  }
  return Paths{*state, *config, xdg("XDG_RUNTIME_DIR").value_or(*state)};
}

Result<void> make_folder(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      return fail_errno(fmt::format("cannot create the folder {}", part), errno);
    }
    if (end == path.npos) {
      break;
    }
  }
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return fail(ErrorCode::Io, fmt::format("{} is in the way: not a folder", path));
  }
  return {};
}

}  // namespace berth
