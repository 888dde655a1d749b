// Names in a directory and the contents of small files, without exceptions. The standard library's
// iterators, of directories as of streams, throw when an entry goes away under them, as processes
// do in /proc; here what has gone is simply not there.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace berth {

/// Without "." and ".."; empty where it cannot be read.
std::vector<std::string> names_in(const std::string& directory);

/// At most `limit` bytes of a file, which may well be a file of /proc that has no size.
std::optional<std::string> read_small_file(const std::string& path, std::size_t limit = 1 << 20);

}  // namespace berth
