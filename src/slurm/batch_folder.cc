#include "slurm/batch_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/failpoint.h"
#include "base/fd.h"
#include "base/read_file.h"
#include "base/small_files.h"
#include "base/text.h"
#include "slurm/read_number.h"

namespace berth {
namespace {

constexpr std::size_t kLongestRecord = 65536;

Failure cannot(const std::string& path) { return fail_errno("cannot write " + path, errno); }

Result<void> write_through(const std::string& path, std::string_view text) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) {
    return cannot(path);
  }
  while (!text.empty()) {
    const ssize_t put = ::write(file.get(), text.data(), text.size());
    if (put < 0 && errno != EINTR) {
      return cannot(path);
    }
    text.remove_prefix(put > 0 ? static_cast<std::size_t>(put) : 0);
  }
  return ::fsync(file.get()) == 0 ? Result<void>() : cannot(path);
}

Result<void> sync_folder(const std::string& path) {
  const Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return folder && ::fsync(folder.get()) == 0 ? Result<void>() : cannot(path);
}

Result<void> replace_file(const std::string& path, std::string_view text) {
  const std::string made = path + ".new";
  if (Result<void> written = write_through(made, text); !written) {
    return written;
  }
  return ::rename(made.c_str(), path.c_str()) == 0 ? Result<void>() : cannot(path);
}

std::string joined(const std::vector<std::string>& texts, char end) {
  std::string all;
  for (const std::string& text : texts) {
    all += text;
    all += end;
  }
  return all;
}

std::vector<std::string> parts(std::string_view text, char end) {
  std::vector<std::string> all;
  while (!text.empty()) {
    all.emplace_back(take_until(text, end));
  }
  return all;
}

std::string claim_path(const std::string& folder, std::uint32_t index) {
  return fmt::format("{}/c/{}", folder, index);
}

}  // namespace

Result<void> write_batch(const std::string& folder, const BatchOrder& order) {
  if (const int full = BERTH_FAILPOINT("slurm.write_batch"); full != 0) {
    errno = full;
    return cannot(folder);
  }
  const std::string made = folder + ".new";
  std::error_code ignored;
  std::filesystem::remove_all(made, ignored);
  for (const std::string& each : {made, made + "/c", made + "/x"}) {
    if (::mkdir(each.c_str(), 0700) != 0) {
      return cannot(each);
    }
  }
  std::string elements;
  for (const WrappedJob& job : order.jobs) {
    elements += element_line(job);
  }
  for (const auto& [name, text] : {std::pair{"elements", elements},
                                   {"options", joined(order.options, '\n')},
                                   {"environment", joined(order.environment, '\0')}}) {
    if (Result<void> written = write_through(fmt::format("{}/{}", made, name), text); !written) {
      return written;
    }
  }
  if (Result<void> synced = sync_folder(made); !synced) {
    return synced;
  }
  if (::rename(made.c_str(), folder.c_str()) != 0) {
    return cannot(folder);
  }
  return sync_folder(std::filesystem::path(folder).parent_path().string());
}

Result<void> write_sent(const std::string& folder, const BatchSent& sent) {
  return replace_file(folder + "/sent", fmt::format("{} {}\n", sent.send, sent.id));
}

void write_confirmed(const std::string& folder) {
  (void)write_through(folder + "/confirmed", "").has_value();
}

std::optional<FoundBatch> read_batch(const std::string& folder) {
  const Result<std::string> elements = read_file(folder + "/elements");
  const Result<std::string> options = read_file(folder + "/options");
  const Result<std::string> environment = read_file(folder + "/environment");
  if (!elements || !options || !environment) {
    return std::nullopt;
  }
  FoundBatch found;
  std::string_view lines = *elements;
  while (!lines.empty()) {
    const auto job = read_element(take_until(lines, '\n'));
    if (!job) {
      return std::nullopt;
    }
    found.jobs.push_back(*job);
  }
  found.options = parts(*options, '\n');
  found.environment = parts(*environment, '\0');
  if (const Result<std::string> sent = read_file(folder + "/sent"); sent) {
    std::string_view line = trim(*sent);
    const std::string_view number = take_until(line, ' ');
    BatchSent& known = found.sent.emplace();
    (void)read_number(number, known.send);
    known.id = line;
  }
  found.confirmed = ::access((folder + "/confirmed").c_str(), F_OK) == 0;
  return found;
}

void remove_batch(const std::string& folder) {
  const std::string gone = folder + ".new";  // a job that starts late finds nothing
  std::error_code ignored;
  if (::rename(folder.c_str(), gone.c_str()) == 0) {
    std::filesystem::remove_all(gone, ignored);
  }
}

bool withdraw(const std::string& folder, std::uint32_t index) {
  const Fd claim(
      ::open(claim_path(folder, index).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!claim) {
    const Result<std::string> there = read_file(claim_path(folder, index), kLongestRecord);
    return there && *there == kWithdrawn;
  }
  (void)!::write(claim.get(), kWithdrawn.data(), kWithdrawn.size());
  ::fsync(claim.get());
  return true;
}

bool lock_is_free(const std::string& folder, std::uint32_t index) {
  const Fd claim(::open(claim_path(folder, index).c_str(), O_RDWR | O_CLOEXEC));
  return !claim || ::flock(claim.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

template <class Take>
void RecordScout::look_into(const std::string& directory, Side& side, Take take) {
  const Fd opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status {};
  if (!opened || ::fstat(opened.get(), &status) != 0) {
    return;
  }
  constexpr std::int64_t kBillion = 1'000'000'000;
  const std::int64_t changed = status.st_mtim.tv_sec * kBillion + status.st_mtim.tv_nsec;
  if (changed == side.changed) {
    return;
  }
  bool complete = true;
  for (const std::string& name : names_in(directory)) {
    std::uint32_t index = 0;
    if (!read_number(name, index) || side.known.contains(index)) {
      continue;
    }
    const std::optional<std::string> text = read_small_file(directory + '/' + name, kLongestRecord);
    if (text && take(index, *text)) {
      side.known.insert(index);
    } else {
      complete = false;
    }
  }
  // A directory that has just changed may change again without another time.
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const bool settled = (now.tv_sec * kBillion + now.tv_nsec) - changed > kBillion;
  side.changed = complete && settled ? changed : 0;
}

std::vector<RecordScout::Found> RecordScout::look() {
  std::vector<Found> all;
  for (auto& [folder, known] : folders_) {
    // Ends first: the claim of each is there when the claims are looked at.
    std::vector<Found> exits;
    look_into(folder + "/x", known.exits, [&](std::uint32_t index, std::string_view text) {
      Found found{folder, index};
      found.exit = read_exit(text);
      if (found.exit) {
        exits.push_back(std::move(found));
      }
      return exits.size() > 0 && exits.back().index == index;
    });
    look_into(folder + "/c", known.claims, [&](std::uint32_t index, std::string_view text) {
      Found found{folder, index};
      found.claim = read_claim(text);
      if (!found.claim) {
        return false;
      }
      all.push_back(std::move(found));
      return true;
    });
    all.insert(all.end(), std::make_move_iterator(exits.begin()),
               std::make_move_iterator(exits.end()));
  }
  return all;
}

}  // namespace berth
