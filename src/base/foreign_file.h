// Files in folders that another user can change. A privileged berth process opens, reads and
// removes files there only through this module. The module follows no link, enters no mount, opens
// only regular files and never blocks. tests/layers_test.py holds the rest of src/ to that.
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

/// Opens a directory below `folder`, by the same rules.
Result<Fd> open_folder_below(int folder, const std::string& path);

/// Makes a directory for `owner` alone, directly below a folder in which no other user can replace
/// it. A directory that already exists must belong to `owner`. Returns a descriptor to reach the
/// files below it.
Result<Fd> make_folder_below(int folder, const std::string& name, uid_t owner);

/// Removes the file or the link itself at `path`, by the same rules. A directory stays.
Result<void> remove_below(int folder, const std::string& path);

/// At most `most` bytes from the beginning of a regular file, opened by the rules of open_below().
Result<std::string> read_below(int folder, const std::string& path, std::size_t most);

}  // namespace berth
