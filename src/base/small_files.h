// Names in a directory and the contents of small files, without exceptions. The standard library's
// directory and stream iterators throw when an entry disappears under them, as processes do in
// /proc. Here an entry that has disappeared is simply absent.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace berth {

/// Without "." and ".."; empty when the directory cannot be read.
std::vector<std::string> names_in(const std::string& directory);

/// At most `limit` bytes of a file, which may be a file of /proc without a size.
std::optional<std::string> read_small_file(const std::string& path, std::size_t limit = 1 << 20);

}  // namespace berth
