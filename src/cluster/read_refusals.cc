#include <algorithm>
#include <ctime>

#include "base/text.h"
#include "cluster/doctor.h"

namespace berth {
namespace {

/// "…: ENCODED: Wed Nov 18 18:48:45 2026" in seconds; 0 when it cannot be read.
double munge_time(std::string_view line, std::string_view word) {
  const std::size_t at = line.find(word);
  std::tm time{};
  if (at == line.npos || ::strptime(std::string(line.substr(at + word.size())).c_str(),
                                    " %a %b %d %H:%M:%S %Y", &time) == nullptr) {
    return 0;
  }
  return static_cast<double>(::timegm(&time));
}

/// "10.77.0.3" of "slurm_receive_msg [10.77.0.3:39494]: …".
std::string peer_in(std::string_view line) {
  const std::size_t open = line.find("slurm_receive_msg [");
  const std::size_t close = line.find("]:", open);
  if (open == line.npos || close == line.npos) {
    return "";
  }
  const std::string_view peer = line.substr(open + 19, close - open - 19);
  return std::string(peer.substr(0, peer.rfind(':')));
}

/// The time of a line "[2026-11-18T17:48:45.797] …" up to its seconds.
std::string_view time_of_line(std::string_view line) {
  return line.size() > 20 && line[0] == '[' ? line.substr(1, 19) : std::string_view();
}

}  // namespace

std::vector<RefusedCredential> read_refusals(std::string_view log, std::string_view since) {
  std::vector<RefusedCredential> refusals;
  std::optional<RefusedCredential> open;  // a refusal whose peer was not told yet
  double encoded = 0;
  const auto add = [&](RefusedCredential one) {
    const auto same = [&](const RefusedCredential& other) {
      return other.peer == one.peer && other.clocks == one.clocks;
    };
    if (std::none_of(refusals.begin(), refusals.end(), same)) {
      refusals.push_back(std::move(one));
    }
  };
  while (!log.empty()) {
    const std::string_view line = take_until(log, '\n');
    if (time_of_line(line) < since) {
      continue;
    }
    if (line.find("Munge decode failed: ") != line.npos) {
      const bool key = line.find("Invalid credential") != line.npos;
      const bool clock = line.find("Rewound credential") != line.npos ||
                         line.find("Expired credential") != line.npos;
      open = key || clock ? std::optional(RefusedCredential{"", clock, 0}) : std::nullopt;
    } else if (open && line.find("ENCODED:") != line.npos) {
      encoded = munge_time(line, "ENCODED:");
    } else if (open && open->clocks && line.find("DECODED:") != line.npos) {
      open->ahead = encoded - munge_time(line, "DECODED:");
    } else if (const std::string peer = peer_in(line); open && !peer.empty()) {
      open->peer = peer;
      add(*open);
      open.reset();
    }
  }
  if (open) {
    add(*open);
  }
  return refusals;
}

}  // namespace berth
