// Puts other lines in the place of those of a peaks file, while others add to it: they add under a
// shared lock of the file, and it is replaced, by a rename, under an exclusive one. So no line is
// lost, and nobody sees half a file.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "memory/past_run.h"

namespace berth {

/// A longer file is shortened.
inline constexpr off_t kLongestPeaks = 4 << 20;

/// `change` gets all lines in order, and returns those to keep, also in order; of these the newest
/// stay that shorten_peaks() would keep. Waits while another process adds a line. A file that
/// belongs to another user is refused.
Result<void> rewrite_peaks(const std::string& path,
                           const std::function<void(std::vector<PastRun>&)>& change);

/// Drops the oldest runs of a file that has become too long: of each recipe but the newest, then of
/// all. Does nothing while another process is at it, or if the file cannot be written.
void shorten_peaks(const std::string& path);

/// All lines that make sense, in order; none when there is no file.
Result<std::vector<PastRun>> read_peaks(const std::string& path);

// For PeakFile:

/// Whether this open file is the one of that name.
bool is_at(int file, const std::string& path);
std::string read_from(int file, off_t at);

}  // namespace berth
