// BoxDaemons: munged, slurmctld and slurmd of this machine, started and stopped by systemd where it
// runs, else directly.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/commands.h"
#include "cluster/places.h"

namespace berth {

class BoxDaemons {
 public:
  BoxDaemons(Commands& commands, const Places& places, bool systemd)
      : commands_(commands), places_(places), systemd_(systemd) {}

  /// Starts munged anew, so that it has the key that is in its file now; checks that it answers.
  Result<void> restart_munged();
  Result<void> restart_slurmctld();
  /// `words` are slurmd's own; with systemd they are in /etc/default/slurmd already.
  Result<void> restart_slurmd(const std::vector<std::string>& words);
  /// Also after the next boot.
  Result<void> stop_slurmd() { return stop("slurmd"); }
  Result<void> stop_slurmctld() { return stop("slurmctld"); }

  /// Whether munged makes credentials and reads them.
  bool munge_works();

  /// What to type to start them again, for a machine without systemd; else empty.
  std::vector<std::string> start_lines(bool head, const std::vector<std::string>& words) const;

 private:
  Result<void> stop(const std::string& daemon);
  Result<void> by_systemd(const std::string& unit);
  /// Waits until no process of this name is left.
  Result<void> end_processes(const std::string& daemon);

  Commands& commands_;
  const Places& places_;
  bool systemd_;
};

}  // namespace berth
