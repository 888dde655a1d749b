// UsageBook: the UsageLogs of running and ended attempts, each in a small file. A file is written
// once a minute while its attempt runs, and when the attempt ends: a crash loses a minute at most.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/ids.h"
#include "daemon/usage_log.h"

namespace berth {

class UsageBook {
 public:
  using Attempt = std::pair<JobId, std::uint16_t>;

  /// Files are kept in this folder, which need not exist yet.
  void open(std::string folder) { folder_ = std::move(folder); }

  /// Adds readings of a running attempt. Continues the log that an earlier daemon left.
  void add(Attempt attempt, const std::vector<std::string>& devices, Time at,
           const std::vector<UsageLog::Reading>& readings, std::optional<double> energy = {});
  /// Writes the files of the attempts that run.
  void save_all();
  /// The attempt has ended.
  void end(Attempt attempt);
  /// Returns nothing when nothing was recorded.
  std::optional<UsageLog> find(Attempt attempt) const;
  void remove(Attempt attempt);

 private:
  struct Open {
    UsageLog log;
    Time saved{};
  };

  std::string path(Attempt attempt) const;
  std::optional<UsageLog> load(Attempt attempt) const;
  void save(Attempt attempt, const UsageLog& log) const;

  std::string folder_;
  std::map<Attempt, Open> open_;
};

/// Writes the whole file or nothing. A chart is not worth a sync, nor an error when the disk is
/// full.
void replace_chart_file(const std::string& path, std::string_view bytes);

}  // namespace berth
