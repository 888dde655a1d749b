#include "slurm/cluster_config.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/read_file.h"
#include "base/text.h"
#include "base/units.h"
#include "slurm/slurm_call.h"

namespace berth {
namespace {

Failure wrong(int line, const std::string& problem) {
  return fail(ErrorCode::Usage, fmt::format("line {} of the clusters file: {}", line, problem));
}

Result<void> set(SlurmSettings& cluster, std::string_view key, std::string_view value) {
  if (key == "folder" || key == "bin" || key == "conf") {
    if (!value.starts_with('/')) {
      return fail(ErrorCode::Usage, fmt::format("{} must be an absolute path", key));
    }
    (key == "folder" ? cluster.folder : key == "bin" ? cluster.bin : cluster.conf) = value;
  } else if (key == "partition" || key == "account" || key == "qos") {
    cluster.defaults.options.push_back(fmt::format("--{}={}", key, value));
  } else if (key == "option") {
    cluster.defaults.options.emplace_back(value);
    return check_raw_option(cluster.defaults.options.back());
  } else if (key == "patience") {
    const Result<Duration> time = parse_duration(value);
    if (!time) {
      return Failure(time.error());
    }
    cluster.patience = std::chrono::duration_cast<std::chrono::milliseconds>(*time);
  } else {
    return fail(ErrorCode::Usage,
                fmt::format("'{}' is unknown: there are folder, bin, conf, partition, account, "
                            "qos, option and patience",
                            key));
  }
  return {};
}

}  // namespace

Result<std::vector<SlurmSettings>> parse_clusters(std::string_view text) {
  std::vector<SlurmSettings> clusters;
  for (int number = 1; !text.empty(); ++number) {
    std::string_view line = take_until(text, '\n');
    line = trim(line.substr(0, line.find(" #")));
    if (line.empty() || line.front() == '#') {
      continue;
    }
    if (line.front() == '[' && line.back() == ']') {
      clusters.emplace_back();
      clusters.back().name = trim(line.substr(1, line.size() - 2));
      const std::string& name = clusters.back().name;
      if (name.empty() || name == "local" || name == "auto" ||
          name.find_first_of("/ .") != name.npos) {
        return wrong(number, fmt::format("'{}' cannot be the name of a cluster", name));
      }
      continue;
    }
    if (clusters.empty()) {
      return wrong(number, "a cluster begins with its name in brackets: [lab]");
    }
    const std::string_view key = trim(take_until(line, '='));
    std::string_view value = trim(line);
    if (value.size() > 1 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    if (const Result<void> done = set(clusters.back(), key, value); !done) {
      return wrong(number, done.error().message);
    }
  }
  return clusters;
}

Result<std::vector<SlurmSettings>> read_clusters(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) {
    return text.error().code == ErrorCode::NotFound
               ? Result<std::vector<SlurmSettings>>(std::vector<SlurmSettings>())
               : Failure(text.error());
  }
  return parse_clusters(*text);
}

Result<SlurmSettings> find_cluster(const std::string& path, const std::string& name) {
  Result<std::vector<SlurmSettings>> clusters = read_clusters(path);
  if (!clusters) {
    return Failure(clusters.error());
  }
  const auto named = std::find_if(clusters->begin(), clusters->end(),
                                  [&](const SlurmSettings& each) { return each.name == name; });
  if (named != clusters->end()) {
    return *named;
  }
  if (name == kUsualCluster && !clusters->empty()) {
    return clusters->front();
  }
  if (name != kUsualCluster) {
    return fail(ErrorCode::NotFound,
                fmt::format("there is no cluster '{}': name it in {}", name, path));
  }
  if (find_program("", "sbatch").empty()) {
    return fail(ErrorCode::NotFound,
                fmt::format("there is no sbatch on PATH: install Slurm's client, or say in {} "
                            "where it is",
                            path));
  }
  SlurmSettings usual;
  usual.name = kUsualCluster;
  return usual;
}

}  // namespace berth
