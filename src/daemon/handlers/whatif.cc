#include "api/messages/whatif.h"

#include <fmt/format.h>

#include "daemon/handlers/daemon.h"

namespace berth {

void ask_whatif(Desk& desk, Whatif& whatif, RoutedRequest asked) {
  const Result<WhatifRequest> wanted = parse_whatif_request(asked.request.body);
  if (!wanted) {
    return desk.answer(std::move(asked.reply), failed(wanted.error()));
  }
  if (whatif.busy()) {
    return desk.answer(std::move(asked.reply),
                       failed({ErrorCode::Refused,
                               "another simulation is running: try again when it "
                               "has ended"}));
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
  whatif.start(words, std::move(asked.reply), desk.now());
}

}  // namespace berth
