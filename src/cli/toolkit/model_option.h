// Policies as users name them, with the files of models that their names refer to.
#pragma once

#include <string>

#include "base/result.h"
#include "rl/model.h"

namespace berth {

/// Reads a model from a file of the user's own.
Result<Model> read_model(const std::string& path);

/// `rl:FILE` with the model of that file packed into the name; other names as they are.
Result<std::string> pack_policy(const std::string& name);

}  // namespace berth
