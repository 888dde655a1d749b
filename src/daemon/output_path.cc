#include "daemon/output_path.h"

#include <fmt/format.h>

#include <cstring>

namespace berth {

std::string output_path(const std::string& pattern, JobId id, const JobDescription& job) {
  std::string path;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      path += pattern[i];
      continue;
    }
    switch (pattern[++i]) {
      case 'j':
        path += std::to_string(id.value);
        break;
      case 'n':
        path += job.name;
        break;
      case 'p':
        path += job.project;
        break;
      case 'a':
        path += std::to_string(job.array_index.value_or(0));
        break;
      case '%':
        path += '%';
        break;
      default:
        path += '%';
        path += pattern[i];
    }
  }
  return path.empty() || path[0] == '/' ? path : job.directory + "/" + path;
}

bool has_sign(const std::string& pattern, char sign) {
  for (std::size_t i = 0; i + 1 < pattern.size(); ++i) {
    if (pattern[i] == '%' && pattern[++i] == sign) {
      return true;
    }
  }
  return false;
}

std::string describe_start_error(int error, StartStep step) {
  const char* known = strerrordesc_np(error);
  const std::string what = known != nullptr ? known : fmt::format("error {}", error);
  switch (step) {
    case StartStep::User:
      return fmt::format("cannot become its user: {}", what);
    case StartStep::Directory:
      return fmt::format("cannot enter its directory: {}", what);
    case StartStep::Output:
      return fmt::format("cannot open its output: {}", what);
    case StartStep::ErrorOutput:
      return fmt::format("cannot open its error output: {}", what);
    case StartStep::Device:
      return fmt::format("cannot lock its devices: {}", what);
    case StartStep::None:
    case StartStep::Fork:
    case StartStep::Record:
    case StartStep::Command:
      break;
  }
  return fmt::format("cannot start it: {}", what);
}

}  // namespace berth
