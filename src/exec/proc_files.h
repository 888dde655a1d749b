// Names in a directory and the contents of small files, without exceptions. The standard library's
// iterators, of directories as of streams, throw when an entry goes away under them, as processes
// do in /proc; here what has gone is simply not there.
#pragma once

#include <string>
#include <vector>

namespace berth {

/// Without "." and ".."; empty where it cannot be read.
std::vector<std::string> names_in(const std::string& directory);

/// What one read gives of a file of /proc; empty where it cannot be read.
std::string read_small(const std::string& path);

}  // namespace berth
