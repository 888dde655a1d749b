#include "daemon/shadow.h"

#include <fmt/format.h>

#include <cmath>

#include "api/messages.h"
#include "api/messages/whatif.h"

namespace berth {
namespace {

constexpr Duration kShadowDay = std::chrono::hours(24);

/// Takes an answer instead of a client.
class Catcher final : public Responder {
 public:
  explicit Catcher(std::function<void(HttpResponse)> take) : take_(std::move(take)) {}

  void respond(HttpResponse response) override { take_(std::move(response)); }
  std::shared_ptr<EventStream> stream() override { return nullptr; }

 private:
  std::function<void(HttpResponse)> take_;
};

double figure(const WhatifReply::Row& row, std::string_view name) {
  for (const auto& [key, value] : row.figures.values) {
    if (key == name) {
      return value;
    }
  }
  return 0;
}

std::string difference(std::string_view what, double before, double after) {
  const double part = before > 0 ? 100 * (after - before) / before : 0;
  return fmt::format("a mean {} of {:.4g} s instead of {:.4g} s ({:.3g} % {})", what, after, before,
                     std::abs(part), part <= 0 ? "less" : "more");
}

}  // namespace

std::string compare_in_words(std::string_view json) {
  const Result<WhatifReply> reply = parse_whatif_reply(json);
  if (!reply || reply->results.size() < 2) {
    return "the last day could not be played again";
  }
  const WhatifReply::Row& other = reply->results.back();
  const WhatifReply::Row& usual = reply->results[reply->results.size() - 2];
  return fmt::format("the last day's {} under {}, simulated: {}, and {}",
                     other.jobs == 1 ? "job" : fmt::format("{} jobs", other.jobs), other.policy,
                     difference("wait", figure(usual, "mean_wait_s"), figure(other, "mean_wait_s")),
                     difference("completion time", figure(usual, "mean_completion_s"),
                                figure(other, "mean_completion_s")));
}

void Shadow::follow(std::string policy, Time now) {
  policy_ = std::move(policy);
  report_.clear();
  next_ = policy_.empty() ? kNever : now + kShadowDay;
}

void Shadow::play(std::string_view in_charge, Time now, std::function<void()> done) {
  next_ = now + kShadowDay;
  const auto take = [this, done = std::move(done)](HttpResponse response) {
    report_ = response.status == 200 ? compare_in_words(response.body)
                                     : "the last day could not be played again: " +
                                           parse_error(response.body, response.status).message;
    done();
  };
  play_.start({"berth", "whatif", "--json", "--last", "1d", "--policy",
               fmt::format("{},{}", in_charge, policy_)},
              std::make_unique<Catcher>(take), now);
}

void Shadow::check(std::string_view in_charge, Time now) {
  play_.check(now);
  if (now >= next_ && !busy()) {
    play(in_charge, now, [] {});
  }
}

}  // namespace berth
