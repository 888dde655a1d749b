// Which parts of an environment may be shown. Other people may see a web page over its user's
// shoulder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth {

inline constexpr std::string_view kMasked = "********";

/// "NAME=value" with the value masked where the name, or the value itself, looks like a secret.
std::string mask_secret(const std::string& variable);
std::vector<std::string> mask_secrets(const std::vector<std::string>& environment);

}  // namespace berth
