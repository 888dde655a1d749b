#include "daemon/targets.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>

#include "base/small_files.h"

namespace berth {

Targets::Targets(std::unique_ptr<ShimRunner> here, Options options)
    : here_(std::move(here)),
      options_(std::move(options)),
      events_(::epoll_create1(EPOLL_CLOEXEC)) {
  watch(here_->event_fd());
}

void Targets::watch(int fd) const {
  epoll_event event{};
  event.events = EPOLLIN;
  ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd, &event);
}

const std::vector<std::string>& Targets::clusters() {
  constexpr auto kKept = std::chrono::seconds(5);
  const auto now = std::chrono::steady_clock::now();
  if (now < names_until_) {
    return names_;
  }
  names_until_ = now + kKept;
  names_.clear();
  const Result<std::vector<SlurmSettings>> known = read_clusters(options_.config);
  for (const SlurmSettings& each : known ? *known : std::vector<SlurmSettings>()) {
    names_.push_back(each.name);
  }
  if (names_.empty() && !find_program("", "sbatch").empty()) {
    names_.emplace_back(kUsualCluster);
  }
  return names_;
}

void Targets::look(const std::string& name, ClusterLook::Answered answered) {
  const Result<SlurmTarget*> target = cluster(name);
  if (!target) {
    return answered(Failure(target.error()));
  }
  looks_[name].ask(**target, std::move(answered));
}

Result<SlurmTarget*> Targets::cluster(const std::string& name) {
  if (const auto open = open_.find(name); open != open_.end()) {
    return open->second.get();
  }
  Result<SlurmSettings> settings = find_cluster(options_.config, name);
  if (!settings) {
    return Failure(settings.error());
  }
  if (settings->folder.empty()) {
    settings->folder = fmt::format("{}/{}", options_.folder, name);
  }
  settings->log = options_.log;
  auto made = std::make_unique<SlurmTarget>(std::move(*settings));
  if (const Result<void> opened = made->open(); !opened) {
    return Failure(opened.error());
  }
  watch(made->event_fd());
  return (open_[name] = std::move(made)).get();
}

std::vector<AttemptStart> Targets::adopt() {
  std::vector<AttemptStart> all = here_->adopt();
  std::vector<std::string> names = names_in(options_.folder);
  const Result<std::vector<SlurmSettings>> configured = read_clusters(options_.config);
  for (const SlurmSettings& each : configured ? *configured : std::vector<SlurmSettings>()) {
    names.push_back(each.name);
  }
  for (const std::string& name : names) {
    const Result<SlurmTarget*> target = cluster(name);
    if (!target) {
      options_.log(fmt::format("{}: {}", name, target.error().message));
      continue;
    }
    for (AttemptStart& start : (*target)->adopt()) {
      away_[start.job] = *target;
      all.push_back(std::move(start));
    }
  }
  return all;
}

bool Targets::may_have_run(JobId job, std::uint16_t attempt, bool started) const {
  return here_->may_have_run(job, attempt, started);
}

Result<void> Targets::start(const ShimLaunch& launch) {
  if (launch.target.empty()) {
    return here_->start(launch);
  }
  const Result<SlurmTarget*> target = cluster(launch.target);
  if (!target) {
    return Failure(target.error());
  }
  away_[launch.job] = *target;
  return (*target)->start(launch);
}

ShimRunner& Targets::runner_of(JobId job) {
  const auto away = away_.find(job);
  return away == away_.end() ? *here_ : *away->second;
}

std::vector<AttemptStart> Targets::take_starts() {
  std::vector<AttemptStart> all = here_->take_starts();
  for (const auto& [name, target] : open_) {
    for (AttemptStart& start : target->take_starts()) {
      away_[start.job] = target.get();
      all.push_back(std::move(start));
    }
  }
  return all;
}

std::vector<AttemptEnd> Targets::take_ends() {
  std::vector<AttemptEnd> all = here_->take_ends();
  for (const auto& [name, target] : open_) {
    for (AttemptEnd& end : target->take_ends()) {
      away_.emplace(end.job, target.get());
      all.push_back(std::move(end));
    }
  }
  return all;
}

void Targets::forget(JobId job, std::uint16_t attempt) {
  runner_of(job).forget(job, attempt);
  if (const auto away = away_.find(job); away != away_.end() && !away->second->standing(job)) {
    away_.erase(away);
  }
}

Result<std::vector<std::string>> Targets::options_for(const JobSpec& spec) {
  const std::string& name = spec.needs.away() ? spec.needs.target : spec.needs.spill;
  const Result<SlurmTarget*> target = cluster(name);
  if (!target) {
    return Failure(target.error());
  }
  return sbatch_options(spec, (*target)->settings().defaults, (*target)->facts());
}

Result<void> Targets::check(const JobSpec& spec) {
  if (!spec.needs.away() && spec.needs.spill.empty()) {
    return {};
  }
  const Result<std::vector<std::string>> options = options_for(spec);
  return options ? Result<void>() : Failure(options.error());
}

std::optional<SlurmStanding> Targets::standing(JobId job) const {
  const auto away = away_.find(job);
  return away == away_.end() ? std::nullopt : away->second->standing(job);
}

bool Targets::take_back(JobId job) {
  const auto away = away_.find(job);
  if (away == away_.end() || !away->second->take_back(job)) {
    return false;
  }
  away_.erase(away);
  return true;
}

}  // namespace berth
