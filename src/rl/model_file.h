// The file of a model: a few lines of text that say what it is and what it was trained on, the
// weights, and a checksum (docs/formats.md). What is wrong with a file is told in words; a file
// that is read has the weights that its kind wants, all finite.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "rl/model.h"

namespace berth {

inline constexpr std::size_t kMostModelBytes = 64 * 1024;

std::string to_text(const Model& model);
/// `name` is how errors call it.
Result<Model> parse_model(std::string_view text, std::string_view name);

/// The model that is part of the program.
const Model& shipped_model();

}  // namespace berth
