#include "cluster/private_munge.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "base/secret.h"
#include "base/text.h"

namespace berth {

Result<std::unique_ptr<PrivateMunge>> PrivateMunge::open(Commands& commands,
                                                         const std::string& folder,
                                                         std::string_view key) {
  if (::mkdir(folder.c_str(), 0700) != 0) {
    return fail_errno(fmt::format("cannot make {}", folder), errno);
  }
  std::unique_ptr<PrivateMunge> munge(new PrivateMunge(commands, folder));
  if (const Result<void> written = replace_private_file(folder + "/key", key); !written) {
    return Failure(written.error());
  }
  // --force: munged would like its folders to be open to all users, who have no business here.
  const Result<std::string> started = run_or_fail(
      commands, {"munged", "--force", "--num-threads=1", "--key-file=" + folder + "/key",
                 "--socket=" + munge->socket(), "--pid-file=" + folder + "/pid",
                 "--log-file=" + folder + "/log", "--seed-file=" + folder + "/seed"});
  if (!started) {
    return Failure(started.error());
  }
  return munge;
}

PrivateMunge::~PrivateMunge() {
  (void)commands_.run({"munged", "--stop", "--socket=" + socket()});
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Result<std::string> PrivateMunge::encode(std::string_view text) {
  const Result<CommandOutput> output =
      commands_.run({"munge", "--socket=" + socket(), "--restrict-uid=0", "--ttl=300"}, text);
  if (!output) {
    return Failure(output.error());
  }
  if (!output->ok()) {
    return fail(ErrorCode::Unavailable, fmt::format("munge failed: {}", last_line(output->err)));
  }
  return std::string(trim(output->out));
}

Result<std::string> PrivateMunge::decode(std::string_view credential) {
  const Result<CommandOutput> output =
      commands_.run({"unmunge", "--socket=" + socket(), "--keys=STATUS,UID"}, credential);
  if (!output) {
    return Failure(output.error());
  }
  return read_unmunged(output->out);
}

Result<std::string> read_unmunged(std::string_view text) {
  const std::size_t end = text.find("\n\n");
  std::string_view head = text.substr(0, end);
  std::string status;
  std::string user;
  while (!head.empty()) {
    std::string_view line = take_until(head, '\n');
    const std::string_view key = take_until(line, ':');
    const std::string_view value = trim(line);
    if (key == "STATUS") {
      status = value.substr(0, value.find(" ("));
    } else if (key == "UID") {
      user = value;
    }
  }
  if (status != "Success") {
    return fail(ErrorCode::Refused, status.empty() ? "Invalid credential" : status);
  }
  if (!user.ends_with(" (0)")) {
    return fail(ErrorCode::Refused, "Invalid credential");
  }
  return std::string(end == text.npos ? "" : text.substr(end + 2));
}

}  // namespace berth
