#include "gpu/mps/mps_jobs.h"

#include <fmt/format.h>

#include <utility>

namespace berth {

MpsJobs::MpsJobs(std::string device, bool seen, std::vector<MpsEvent>& events)
    : device_(std::move(device)), seen_(seen), events_(events) {}

void MpsJobs::release(JobId job) {
  jobs_.erase(job);
  const bool started = waiting_.erase(job) == 0;
  if (started && !seen_) {
    at_work(job);  // nobody has seen it at work: its end is the time to ask
  }
}

void MpsJobs::at_work(JobId job) {
  if (!used_ && !told_ && !suspect_) {
    suspect_ = job;
  }
}

void MpsJobs::ready(const std::vector<pid_t>& servers) {
  used_ = used_ || !servers.empty();
  events_.push_back({MpsEvent::Kind::Ready, {waiting_.begin(), waiting_.end()}, ""});
  waiting_.clear();
}

void MpsJobs::fail(const std::string& why) {
  if (waiting_.empty()) {
    return;
  }
  events_.push_back(
      {MpsEvent::Kind::Failed,
       {waiting_.begin(), waiting_.end()},
       fmt::format("MPS cannot be started on GPU {}{}{}", device_, why.empty() ? "" : ": ", why)});
  for (const JobId job : std::exchange(waiting_, {})) {
    jobs_.erase(job);
  }
}

void MpsJobs::died() {
  used_ = true;  // one of its servers may still be there, and its successor does not know
  events_.push_back({MpsEvent::Kind::Died,
                     {jobs_.begin(), jobs_.end()},
                     fmt::format("the MPS control daemon of GPU {} has died under its jobs: "
                                 "starting it again",
                                 device_)});
}

void MpsJobs::judge(const std::optional<std::vector<pid_t>>& servers, const std::string& pipe) {
  if (servers && servers->empty() && !used_ && !told_) {
    told_ = true;
    events_.push_back(
        {MpsEvent::Kind::NotUsed,
         {*suspect_},
         fmt::format("job {} does not go through MPS: GPU {} has no MPS server, so the job "
                     "shares it as if MPS were off (does its program or container hide {}?)",
                     suspect_->value, device_, pipe)});
  }
  used_ = used_ || (servers && !servers->empty());
  suspect_.reset();
}

}  // namespace berth
