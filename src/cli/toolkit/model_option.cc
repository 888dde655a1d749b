#include "cli/toolkit/model_option.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/fd.h"
#include "rl/model_file.h"
#include "rl/packed_name.h"

namespace berth {

Result<Model> read_model(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts {};
  if (!file && errno == ENOENT) {
    return fail(ErrorCode::NotFound,
                fmt::format("there is no model '{}': berth train --out {} makes one, and policy rl "
                            "uses the one that berth brings along",
                            path, path));
  }
  if (!file || ::fstat(file.get(), &facts) != 0) {
    return fail_errno(fmt::format("cannot open the model '{}'", path), errno);
  }
  if (!S_ISREG(facts.st_mode)) {
    return fail(ErrorCode::Usage, fmt::format("'{}' is not a file, so it is no model", path));
  }
  std::string text(kMostModelBytes + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno != EINTR) {
      return fail_errno(fmt::format("cannot read the model '{}'", path), errno);
    }
    if (got == 0) {
      break;
    }
    size += got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  text.resize(size);
  return parse_model(text, path);
}

Result<std::string> pack_policy(const std::string& name) {
  if (!name.starts_with(kLearnedPrefix) || name.find('#') != std::string::npos) {
    return name;
  }
  const std::string path = name.substr(kLearnedPrefix.size());
  const Result<Model> model = read_model(path);
  return model ? Result<std::string>(pack_model(path, *model)) : Failure(model.error());
}

}  // namespace berth
