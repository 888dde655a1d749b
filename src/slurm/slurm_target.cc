#include "slurm/slurm_target.h"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <cstdlib>
#include <filesystem>

#include "base/paths.h"
#include "base/read_file.h"
#include "base/secret.h"
#include "base/small_files.h"

namespace berth {
namespace {

void add_to(const Fd& epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event);
}

SlurmSettings with_conf(SlurmSettings settings) {
  if (const char* conf = std::getenv("SLURM_CONF"); settings.conf.empty() && conf != nullptr) {
    settings.conf = conf;
  }
  return settings;
}

/// A batch that an earlier process has left.
std::unique_ptr<SlurmBatch> adopted(const std::string& folder, FoundBatch found, SlurmTime now) {
  auto batch = std::make_unique<SlurmBatch>();
  batch->name = folder.substr(folder.rfind('/') + 1);
  batch->folder = folder;
  batch->options = std::move(found.options);
  batch->environment = std::move(found.environment);
  batch->confirmed = found.confirmed;
  batch->since = now;
  const BatchSent sent = found.sent.value_or(BatchSent{});
  batch->state = sent.id.empty() ? SlurmBatch::State::Doubtful : SlurmBatch::State::Sent;
  batch->send = sent.send;
  batch->id = sent.id;
  for (const auto& [job, attempt] : found.jobs) {
    batch->elements.push_back(BatchElement{JobId{job}, attempt});
  }
  return batch;
}

}  // namespace

SlurmTarget::SlurmTarget(SlurmSettings settings, SlurmWorld world)
    : means_(with_conf(std::move(settings)), std::move(world)),
      events_(::epoll_create1(EPOLL_CLOEXEC)) {
  add_to(events_, means_.alarm.event_fd());
  add_to(events_, means_.files.event_fd());
  add_to(events_, means_.slurm.event_fd());
}

SlurmTarget::~SlurmTarget() = default;

Result<void> SlurmTarget::open() {
  means_.alarm.wake();
  const std::string& folder = means_.settings.folder;
  if (Result<void> made = make_folder(folder); !made) {
    return made;
  }
  const std::string path = folder + "/mark";
  Result<std::string> mark = read_file(path);
  if (!mark || mark->size() != 8) {
    mark = random_name().substr(0, 8);
    if (Result<void> written = replace_private_file(path, *mark); !written) {
      return written;
    }
  }
  books_.set_prefix(fmt::format("berth-{}-", *mark));
  return {};
}

std::vector<AttemptStart> SlurmTarget::adopt() {
  std::vector<std::string> folders;
  for (const std::string& name : names_in(means_.settings.folder)) {
    const std::string folder = means_.settings.folder + '/' + name;
    if (!name.starts_with(books_.prefix())) {
      continue;
    }
    std::optional<FoundBatch> found = name.ends_with(".new") ? std::nullopt : read_batch(folder);
    if (!found) {
      std::error_code ignored;
      std::filesystem::remove_all(folder, ignored);  // half written, or half removed
      continue;
    }
    books_.add(adopted(folder, std::move(*found), means_.alarm.now()));
    folders.push_back(folder);
  }
  records_.take(means_.files.adopt(folders));
  means_.alarm.wake();
  return books_.take_starts();
}

Result<void> SlurmTarget::start(const ShimLaunch& launch) {
  const BatchPlace known = books_.find(launch.job);
  if (known && known.element().attempt == launch.attempt && !known.element().is_over()) {
    return {};  // it is under way since an earlier process
  }
  sender_.start(launch);
  return {};
}

void SlurmTarget::stop(JobId job, StopSignal signal) {
  if (const std::optional<std::uint16_t> attempt = sender_.take_back(job)) {
    AttemptEnd over;
    over.job = job;
    over.attempt = *attempt;
    over.kind = AttemptEnd::Kind::Withdrawn;
    books_.end(std::move(over));
    return means_.alarm.wake();
  }
  stopper_.stop(job, signal);
}

bool SlurmTarget::take_back(JobId job) {
  const bool taken = sender_.take_back(job).has_value() || stopper_.take_back(job);
  remove_dropped();
  return taken;
}

void SlurmTarget::forget(JobId job, std::uint16_t attempt) {
  books_.forget(job, attempt);
  remove_dropped();
}

std::optional<SlurmStanding> SlurmTarget::standing(JobId job) const {
  if (sender_.has(job)) {
    return SlurmStanding{true, "it is about to be handed to Slurm", "", "", ""};
  }
  const BatchPlace place = books_.find(job);
  return place ? std::optional(standing_of(place, trouble())) : std::nullopt;
}

void SlurmTarget::ask(std::vector<std::string> words, SlurmCaller::Answered answered) {
  means_.slurm.ask(std::move(words), std::move(answered));
}

std::vector<AttemptStart> SlurmTarget::take_starts() {
  means_.alarm.clear();
  go_on();
  return books_.take_starts();
}

/// Answers come first: what they change is acted upon at once.
void SlurmTarget::go_on() {
  means_.files.finish();
  means_.slurm.finish();
  sender_.form();
  if (!books_.batches().empty() || !facts_.asked()) {
    facts_.learn();
  }
  if (!books_.batches().empty()) {
    sender_.send();
    records_.look();
    queue_.look();
  }
  for (std::vector<std::string>& words : cancels_.take()) {
    means_.slurm.ask(std::move(words), [this](const SlurmAnswer&) { queue_.ask_soon(); });
  }
  remove_dropped();
}

void SlurmTarget::remove_dropped() {
  for (const std::string& folder : books_.take_dropped()) {
    means_.files.remove(folder);
  }
}

}  // namespace berth
