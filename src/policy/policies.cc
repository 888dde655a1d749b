#include "policy/policies.h"

#include <fmt/format.h>

#include <array>

namespace berth {
namespace {

struct Entry {
  std::string_view name;
  std::unique_ptr<Policy> (*make)();
};

constexpr std::array kPolicies = {
    Entry{"priority", [] { return make_priority(); }},
    Entry{"fifo", make_fifo},
};

}  // namespace

std::vector<std::string_view> policy_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kPolicies) {
    names.push_back(entry.name);
  }
  return names;
}

Result<std::unique_ptr<Policy>> make_policy(std::string_view name) {
  for (const Entry& entry : kPolicies) {
    if (entry.name == name) {
      return entry.make();
    }
  }
  return fail(ErrorCode::Usage, fmt::format("there is no policy '{}': choose one of {}", name,
                                            fmt::join(policy_names(), ", ")));
}

}  // namespace berth
