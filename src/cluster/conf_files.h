// Writes files that an administrator owns: whole or not at all, and what was there is kept beside
// it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace berth {

struct FileOwner {
  unsigned mode = 0644;
  std::string user;  // empty: as this process
};

/// Replaces the file unless it has this text already. A former text is kept beside it, with the
/// same owner and mode: in "slurm.conf.berth-20261118-165500". Returns the path of that copy; empty
/// when there was none.
Result<std::string> write_conf_file(const std::string& path, std::string_view text,
                                    const FileOwner& owner = {});

/// Whether a file is there that has another text.
bool differs(const std::string& path, std::string_view text);

}  // namespace berth
