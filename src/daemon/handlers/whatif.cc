#include "api/messages/whatif.h"

#include <fmt/format.h>

#include "daemon/handlers/daemon.h"

namespace berth {

namespace {

void simulate(Desk& desk, Whatif& whatif, const std::vector<std::string>& words,
              std::unique_ptr<Responder> reply) {
  if (whatif.busy()) {
    return desk.answer(std::move(reply), failed({ErrorCode::Refused,
                                                 "another simulation is running: try again when it "
                                                 "has ended"}));
  }
  whatif.start(words, std::move(reply), desk.now());
}

}  // namespace

void ask_advice(Desk& desk, Whatif& whatif, RoutedRequest asked) {
  simulate(desk, whatif, {"berth", "sim", "--advise", "--history", "--json"},
           std::move(asked.reply));
}

void ask_whatif(Desk& desk, Whatif& whatif, RoutedRequest asked) {
  const Result<WhatifRequest> wanted = parse_whatif_request(asked.request.body);
  if (!wanted) {
    return desk.answer(std::move(asked.reply), failed(wanted.error()));
  }
  for (const std::string& policy : wanted->policies) {
    // The simulation runs as the daemon's user: it opens no file that somebody else names.
    if (policy.find("rl:") != std::string::npos && policy.find('#') == std::string::npos) {
      return desk.answer(std::move(asked.reply),
                         failed({ErrorCode::Usage,
                                 "a model file is read by the command line: say berth whatif "
                                 "--policy rl:FILE"}));
    }
  }
  std::vector<std::string> words = {"berth", "whatif", "--json", "--spans"};
  if (wanted->queue) {
    words.emplace_back("--queue");
  }
  if (!wanted->policies.empty()) {
    words.insert(words.end(), {"--policy", fmt::format("{}", fmt::join(wanted->policies, ","))});
  }
  if (!wanted->gpus.empty()) {
    words.insert(words.end(), {"--gpus", wanted->gpus});
  }
  simulate(desk, whatif, words, std::move(asked.reply));
}

}  // namespace berth
