// `berth help TOPIC`: what belongs to no single command.
#pragma once

#include <span>
#include <string_view>

namespace berth {

struct HelpTopic {
  std::string_view name;
  std::string_view summary;
  std::string_view text;
};

std::span<const HelpTopic> help_topics();

}  // namespace berth
