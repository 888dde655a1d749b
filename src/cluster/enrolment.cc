#include "cluster/enrolment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/secret.h"
#include "base/text.h"
#include "cluster/conf_texts.h"
#include "cluster/munge_key.h"

namespace berth {
namespace {

constexpr std::size_t kTokenDigits = 32;
constexpr std::size_t kMostGpus = 256;

/// A word that cannot end its line, or add another setting to it.
bool is_plain_word(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == '/';
  });
}

Result<GpuFile> parse_gpu(std::string_view text) {
  GpuFile gpu;
  const std::string_view vendor = take_until(text, ' ');
  gpu.vendor = vendor == "amd" ? GpuVendor::Amd : GpuVendor::Nvidia;
  gpu.file = take_until(text, ' ');
  gpu.type = text;
  const bool known = gpu.file.starts_with("/dev/") || gpu.file.starts_with("/var/lib/slurm/");
  if (!known || gpu.file.find("..") != std::string::npos || !is_plain_word(gpu.file) ||
      !is_plain_word(gpu.type)) {
    return fail(ErrorCode::Usage, "the box named a GPU whose file is not a device");
  }
  return gpu;
}

std::string_view cgroups_word(Cgroups cgroups) {
  switch (cgroups) {
    case Cgroups::None:
      return "none";
    case Cgroups::V1:
      return "v1";
    case Cgroups::V2:
      return "v2";
  }
  return "";
}

/// "22.05" of "22.05.8".
std::string_view release_of(std::string_view version) {
  return version.substr(0, version.find('.', version.find('.') + 1));
}

/// Calls `take` with each key and value of lines such as "name n2".
template <class Take>
void for_each_line(std::string_view text, const Take& take) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    const std::string_view key = take_until(line, ' ');
    take(key, line);
  }
}

}  // namespace

Result<std::string> make_token() {
  Result<std::string> digits = random_hex(kTokenDigits / 2);
  if (!digits) {
    return digits;
  }
  std::string token;
  for (std::size_t i = 0; i < digits->size(); i += 4) {
    token += fmt::format("{}{}", i == 0 ? "" : "-", digits->substr(i, 4));
  }
  return token;
}

Result<std::string> key_of_token(std::string_view token) {
  std::string digits;
  for (const char c : token) {
    if (c != '-' && kBlanks.find(c) == kBlanks.npos) {
      digits += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  if (digits.size() != kTokenDigits || !from_hex(digits)) {
    return fail(ErrorCode::Usage,
                "that is not a token: it has eight groups of four digits, as the head printed it");
  }
  return "berth cluster invitation " + digits;
}

std::string to_text(const JoinRequest& request) {
  std::string text =
      fmt::format("join 1\nnonce {}\nname {}\nversion {}\ncgroups {}\n", request.nonce,
                  request.name, request.version, cgroups_word(request.cgroups));
  for (const GpuFile& gpu : request.gpus) {
    text += fmt::format("gpu {} {} {}\n", gpu.vendor == GpuVendor::Amd ? "amd" : "nvidia", gpu.file,
                        gpu.type);
  }
  return text;
}

std::string to_text(const JoinAnswer& answer) {
  return fmt::format("answer 1\nnonce {}\nrefusal {}\ncluster {}\nkey {}\n", answer.nonce,
                     answer.refusal, answer.cluster, to_hex(answer.key));
}

Result<JoinRequest> parse_join_request(std::string_view text) {
  JoinRequest request;
  std::string version;
  std::string problem;
  for_each_line(text, [&](std::string_view key, std::string_view value) {
    if (key == "join") {
      version = value;
    } else if (key == "nonce") {
      request.nonce = value;
    } else if (key == "name") {
      request.name = value;
    } else if (key == "version") {
      request.version = value;
    } else if (key == "cgroups") {
      request.cgroups = value == "v2" ? Cgroups::V2 : value == "v1" ? Cgroups::V1 : Cgroups::None;
    } else if (key == "gpu") {
      Result<GpuFile> gpu = parse_gpu(value);
      if (gpu) {
        request.gpus.push_back(std::move(*gpu));
      } else {
        problem = gpu.error().message;
      }
    }
  });
  if (version != "1") {
    return fail(ErrorCode::Usage, "the box has another version of berth: install the same on both");
  }
  if (const Result<void> named = check_node_name(request.name); !named) {
    return Failure(named.error());
  }
  if (!problem.empty()) {
    return fail(ErrorCode::Usage, problem);
  }
  if (request.gpus.size() > kMostGpus || !is_plain_word(request.version) ||
      !is_plain_word(request.nonce)) {
    return fail(ErrorCode::Usage, "the box sent a request that cannot be read");
  }
  return request;
}

Result<JoinAnswer> parse_join_answer(std::string_view text) {
  JoinAnswer answer;
  bool known = false;
  std::string key_digits;
  for_each_line(text, [&](std::string_view key, std::string_view value) {
    if (key == "answer") {
      known = value == "1";
    } else if (key == "nonce") {
      answer.nonce = value;
    } else if (key == "refusal") {
      answer.refusal = value;
    } else if (key == "cluster") {
      answer.cluster = value;
    } else if (key == "key") {
      key_digits = value;
    }
  });
  Result<std::string> bytes = from_hex(key_digits);
  if (!known || !bytes) {
    return fail(ErrorCode::Usage,
                "the head has another version of berth: install the same on both");
  }
  answer.key = std::move(*bytes);
  return answer;
}

std::string join_objection(const JoinRequest& request, const ClusterState& cluster, bool confines) {
  if (release_of(request.version) != release_of(cluster.version)) {
    return fmt::format("it has Slurm {}, and the head has {}: install the same release on both",
                       request.version, cluster.version);
  }
  const NodeState* other = cluster.find(request.name);
  if (other != nullptr && (!other->dynamic() || !other->is("NOT_RESPONDING")) &&
      !other->is("DOWN")) {
    return fmt::format("the cluster has a box named {} already: give this one another host name",
                       request.name);
  }
  if (confines && request.cgroups != Cgroups::V2) {
    return "the cluster confines jobs by cgroups v2, which the box does not have below "
           "/sys/fs/cgroup";
  }
  return "";
}

}  // namespace berth
