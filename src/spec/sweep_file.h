// Sweep files: a SweepSpec in TOML. Only this module knows that sweep files are TOML.
//
//   command = "python train.py --lr {lr} --bs {bs}"
//   mode = "grid"                # or "shuffled_grid"
//   n_samples = 20
//   seed = 7
//   where = ["bs <= 128"]        # or one text
//   zip = [["a", "b"]]           # or one list of names
//   allow_unused = false
//   [parameters]                 # the last one varies fastest
//   lr = "log:1e-5..1e-1"        # a range, or one value
//   bs = [32, 64, 128]           # values as they are
#pragma once

#include <string_view>

#include "base/result.h"
#include "spec/sweep.h"

namespace berth {

/// `text` is the whole file; errors call the file `name`.
Result<SweepSpec> parse_sweep_file(std::string_view text, std::string_view name);

}  // namespace berth
