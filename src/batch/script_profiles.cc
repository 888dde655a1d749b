#include "batch/script_profiles.h"

#include "spec/task.h"

namespace berth {

ScriptProfiles::ScriptProfiles(const std::string& peaks,
                               const std::map<std::string, Bytes>& profiled)
    : peaks_(peaks, {[this](const PastRun& run) { (void)book_.learn(run.recipe, run.peak); },
                     [this] { book_.forget(); }}) {
  for (const auto& [script, peak] : profiled) {
    if (peak == Bytes{}) {
      done_.insert(script);  // the file of peaks does not tell
    }
  }
}

bool ScriptProfiles::is_wanted(const std::string& script) const {
  return !running_.contains(script) && !book_.claim(script_recipe(script)).has_value() &&
         !done_.contains(fingerprint_of(script));
}

const std::string* ScriptProfiles::failure(const std::string& script) const {
  const auto found = failures_.find(script);
  return found == failures_.end() ? nullptr : &found->second;
}

void ScriptProfiles::succeeded(const std::string& script) {
  running_.erase(script);
  done_.insert(fingerprint_of(script));
}

void ScriptProfiles::failed(const std::string& script, std::string reason) {
  running_.erase(script);
  failures_[script] = std::move(reason);
}

}  // namespace berth
