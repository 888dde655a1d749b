#include "cli/run/command_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/fd.h"
#include "base/text.h"
#include "base/units.h"

namespace berth {
namespace {

/// Endings of programs, and what runs them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kPrograms = {
    {{".py", "python3 "},
     {".ipynb", "jupyter execute "},
     {".jl", "julia "},
     {".R", "Rscript "},
     {".lua", "lua "},
     {".pl", "perl "},
     {".rb", "ruby "},
     {".js", "node "}}};

/// The first bytes of a regular file; empty for anything else.
std::string beginning_of(const std::string& path) {
  constexpr std::size_t kMost = 64 * 1024;
  const Fd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return "";
  }
  std::string text(kMost, '\0');
  const ssize_t got = ::read(file.get(), text.data(), text.size());
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

/// "./job.sh": what a shell starts, not a name that it looks for.
std::string as_program(const std::string& path) {
  return path.find('/') == path.npos ? "./" + path : path;
}

/// The number in "gpu:a100:4", "gpu:2" or "4"; 1 where there is none.
std::uint32_t last_number(std::string_view text) {
  const Result<std::int64_t> number =
      parse_integer(text.substr(text.find_last_of(':') + 1), "a number");
  return number && *number > 0 && *number < 10'000 ? static_cast<std::uint32_t>(*number) : 1;
}

std::optional<std::uint32_t> slurm_gpus_in(std::string_view text) {
  std::optional<std::uint32_t> gpus;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (!line.starts_with("#SBATCH")) {
      continue;
    }
    gpus = gpus.value_or(0);
    for (const std::string_view option :
         {"--gres=gpu", "--gres gpu", "--gpus=", "--gpus ", "-G ",
          "--gpus-per-node=", "--gpus-per-node ", "--gpus-per-task=", "--gpus-per-task "}) {
      if (const std::size_t at = line.find(option); at != line.npos) {
        const std::string_view value = line.substr(at + option.size());
        gpus = std::max(*gpus, last_number(value.substr(0, value.find_first_of(" \t#,"))));
      }
    }
  }
  return gpus;
}

}  // namespace

std::optional<std::uint32_t> slurm_gpus(const std::string& path) {
  return slurm_gpus_in(beginning_of(path));
}

Result<void> check_command_file(const std::string& path) {
  const std::string text = beginning_of(path);
  const auto refuse = [&](std::string_view what, const std::string& type) {
    return fail(ErrorCode::Usage,
                fmt::format("{} is {}, not a list of commands: {}", path, what, type));
  };
  if (const auto gpus = slurm_gpus_in(text)) {
    const std::uint32_t wanted = std::max<std::uint32_t>(1, *gpus);
    return refuse(
        fmt::format("a Slurm script{}", *gpus > 0 ? fmt::format(" that asks for {} GPU{}", wanted,
                                                                wanted == 1 ? "" : "s")
                                                  : ""),
        fmt::format("queue it with berth submit --gpus {} {}", wanted, as_program(path)));
  }
  for (const auto& [ending, runs] : kPrograms) {
    if (path.ends_with(ending)) {
      return refuse("a program", fmt::format("run it with berth run -- {}{}", runs, path));
    }
  }
  if (text.starts_with("#!")) {
    return refuse("a script", fmt::format("run it with berth run -- {} (a list of commands has no "
                                          "#! line)",
                                          as_program(path)));
  }
  // One in a later line is told by its line.
  if (text.find('\0') < text.find('\n')) {
    return fail(
        ErrorCode::Usage,
        fmt::format("{} holds a NUL byte and is not a list of commands: run it with berth "
                    "run -- {} if it is a program, or give -0 if NUL bytes separate the jobs",
                    path, as_program(path)));
  }
  return {};
}

}  // namespace berth
