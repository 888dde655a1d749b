// Files in folders that another user can change. A berth with privileges opens, reads and removes
// nothing there but through this module, which follows no link, enters no mount, opens nothing but
// regular files and never blocks. tests/layers_test.py holds the rest of src/ to that.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace berth {

/// Opens the regular file at `path`, relative to the open directory `folder`, for reading. The path
/// must stay below `folder`, and no part of it may be a link or a mount. A FIFO or a device is
/// refused without being opened: even opening one has effects.
Result<Fd> open_below(int folder, const std::string& path);

/// Opens a directory there, by the same rules.
Result<Fd> open_folder_below(int folder, const std::string& path);

/// Makes a directory for `owner` alone, directly below a folder in which nobody else can replace
/// it. One that is there already must be that user's. Gives a descriptor to reach what is below it.
Result<Fd> make_folder_below(int folder, const std::string& name, uid_t owner);

/// Removes the file or link itself at `path`, by the same rules; a directory stays.
Result<void> remove_below(int folder, const std::string& path);

/// At most `most` bytes from the beginning of a regular file, opened by the rules of open_below().
Result<std::string> read_below(int folder, const std::string& path, std::size_t most);

}  // namespace berth
