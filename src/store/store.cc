#include "store/store.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "store/backing.h"

namespace berth {
namespace {

/// What was promised to be jobs, but for the showing.
Result<void> show_complete(Backing& backing) {
  const Staging staging = backing.counters().staging;
  for (const StagedJobs& staged : staging) {
    if (!staged.complete) {
      continue;
    }
    const Result<std::int64_t> held = backing.database().number(fmt::format(
        "SELECT count(*) FROM jobs WHERE id BETWEEN {} AND {} AND state = {}", staged.first.value,
        staged.first.value + staged.count - 1, static_cast<int>(JobPhase::Held)));
    if (!held) {
      return Failure(held.error());
    }
    const ShowStaged show{staged.first, staged.count, static_cast<std::uint64_t>(*held)};
    if (Result<void> shown = backing.group().add(show); !shown) {
      return shown;
    }
  }
  return {};
}

}  // namespace

Store::Store(std::string path, std::unique_ptr<Backing> backing)
    : path_(std::move(path)),
      backing_(std::move(backing)),
      jobs_(*backing_),
      attempts_(*backing_),
      staged_(*backing_),
      walks_(*backing_),
      settings_(*backing_),
      journal_(*backing_) {}

Store::~Store() {
  if (misses_files()) {
    rollback();
    if (!keep_files()) {
      // What has these names now may be somebody else's.
      backing_->database().merge_log_on_close(false);
      return;
    }
  }
  backing_->group().close();
}

Result<std::unique_ptr<Store>> Store::open(const std::string& path) {
  Result<Backing> backing = Backing::open(path);
  if (!backing) {
    return Failure(backing.error());
  }
  if (const Result<void> shown = show_complete(*backing); !shown) {
    return Failure(shown.error());
  }
  return std::unique_ptr<Store>(new Store(path, std::make_unique<Backing>(std::move(*backing))));
}

// --- groups

Result<void> Store::commit() {
  Result<void> written = write();
  return written ? sync() : written;
}

Result<void> Store::write() {
  if (!backing_->group().has_changes() && !suspect_) {
    return {};
  }
  // Afterwards: what went to a file that is gone by now was written for nobody.
  return checked(backing_->group().write());
}

Result<void> Store::sync() {
  return backing_->group().is_synced() ? Result<void>() : checked(backing_->group().sync());
}

Result<void> Store::checked(Result<void> done) {
  return done || misses_files() ? keep_files() : done;
}

void Store::rollback() { backing_->group().rollback(); }

bool Store::misses_files() const {
  return backing_->files().problem(backing_->group().least_size()).has_value();
}

Result<void> Store::keep_files() {
  const std::optional<StoreFiles::Problem> problem =
      backing_->files().problem(backing_->group().least_size());
  suspect_ = out_of_reach_ = problem.has_value();
  if (!problem) {
    backing_->group().looked();
    return {};
  }
  std::string kept;
  const Result<void> rescued = problem->damaged
                                   ? fail(ErrorCode::Io,
                                          "the rest of it is damaged (put a backup in its "
                                          "place and start the daemon again)")
                                   : write_anew(kept);
  if (!rescued) {
    return fail(ErrorCode::Unavailable,
                fmt::format("{}, and the queue cannot be written anew: {}. Nothing is accepted "
                            "until it can be",
                            problem->text, rescued.error().message));
  }
  suspect_ = out_of_reach_ = false;
  rescue_.done(fmt::format("{}: the queue was written anew{}", problem->text,
                           kept.empty() ? "" : ", and what was there is now " + kept));
  return {};
}

/// The open files still have everything, whatever became of their names. The new ones are opened
/// before the old ones are closed, so that a failure leaves all as it was.
Result<void> Store::write_anew(std::string& kept) {
  if (!rescue_.allowed) {
    return fail(ErrorCode::Refused, "nobody has asked for it");
  }
  if (Result<void> allowed = rescue_.allowed(); !allowed) {
    return allowed;
  }
  if (Result<void> settled = backing_->group().settle(); !settled) {
    return settled;
  }
  const std::string made = path_ + "-rescue";
  if (Result<void> fresh = make_fresh_file(made); !fresh) {
    return fresh;
  }
  if (const Result<void> copied = backing_->database().copy_to(made); !copied) {
    ::unlink(made.c_str());
    return copied;
  }
  (void)BERTH_FAILPOINT("store.rescue_written");
  struct stat there {};
  if (::lstat(path_.c_str(), &there) == 0 && there.st_ino != backing_->files().inode() &&
      there.st_ino != rescued_) {
    Result<std::string> moved = set_aside(path_);
    if (!moved) {
      return Failure(moved.error());
    }
    kept = std::move(*moved);
  }
  if (Result<void> named = give_name(made, path_); !named) {
    return named;
  }
  (void)BERTH_FAILPOINT("store.rescue_named");
  rescued_ = ::stat(path_.c_str(), &there) == 0 ? there.st_ino : 0;
  Result<Backing> opened = Backing::open(path_);
  if (!opened) {
    return Failure(opened.error());
  }
  backing_->database().merge_log_on_close(false);  // its log has the name of the new one's
  *backing_ = std::move(*opened);
  return {};
}

Result<bool> Store::give_back() { return backing_->group().shrink(); }

}  // namespace berth
