// Models in the names of policies. A policy that uses a model file is named `rl:FILE`. A daemon,
// its journal and its checkpoints must be able to make the policy again when the file has changed
// or is gone, so a name that leaves the command line holds the model itself: `rl:FILE#…`, the text
// of the file in letters and digits.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "rl/model.h"

namespace berth {

inline constexpr std::string_view kLearnedPrefix = "rl:";

/// The name of a policy that uses this model, which came from that file.
std::string pack_model(std::string_view path, const Model& model);
Result<Model> unpack_model(std::string_view name);

/// A name for people: without what is packed into it.
std::string_view policy_label(std::string_view name);

}  // namespace berth
