#include "daemon/shadow.h"

#include "daemon/handlers/daemon.h"
#include "policy/policies.h"

namespace berth {
namespace {

HttpResponse follow(Desk& desk, Shadow& shadow, const DaemonFacts& facts, const HttpRequest& asked,
                    std::string policy) {
  if (!Desk::may_steer(asked.peer)) {
    return not_yours();
  }
  policy = policy == "none" ? "" : policy;
  if (const auto made = make_live_policy(policy.empty() ? "priority" : policy); !made) {
    return failed(made.error());
  }
  desk.check(desk.store.settings().set("shadow", policy));
  shadow.follow(std::move(policy), desk.now());
  return status_answer(desk, facts, asked.peer);
}

}  // namespace

void ask_shadow(Desk& desk, Shadow& shadow, const DaemonFacts& facts, RoutedRequest asked) {
  if (const auto named = asked.request.parameter("policy")) {
    return desk.answer(std::move(asked.reply),
                       follow(desk, shadow, facts, asked.request, std::string(*named)));
  }
  if (shadow.policy().empty() || shadow.busy()) {
    return desk.answer(
        std::move(asked.reply),
        failed({ErrorCode::Refused, shadow.busy()
                                        ? "the last day is being played already: try again"
                                        : "no policy decides on paper: say berth daemon shadow "
                                          "rl:FILE"}));
  }
  // The reply outlives this turn; the parts that the facts name outlive the reply.
  shadow.play(desk.driver.policy(), desk.now(),
              [&desk, facts, peer = asked.request.peer,
               reply = std::make_shared<std::unique_ptr<Responder>>(std::move(asked.reply))] {
                (*reply)->respond(status_answer(desk, facts, peer));
              });
}

}  // namespace berth
