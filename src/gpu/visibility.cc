#include "gpu/visibility.h"

#include <algorithm>

namespace berth {
namespace {

/// "GPU-…", "MIG-…" and AMD's "GPU-…": only these may be cut short.
bool looks_like_uuid(std::string_view id) {
  return id.size() > 4 && (id.starts_with("GPU-") || id.starts_with("MIG-"));
}

std::string join_words(std::span<const DeviceInfo> devices) {
  std::vector<std::string_view> words;
  for (const DeviceInfo& device : devices) {
    // A slot on trust may stand for several devices, or for none.
    for (std::string_view rest = device.visible; !rest.empty();) {
      const std::string_view word = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(word.size() + 1, rest.size()));
      // A device that is leased twice is still one device, and CUDA refuses a word that comes
      // again.
      if (std::find(words.begin(), words.end(), word) == words.end()) {
        words.push_back(word);
      }
    }
  }
  std::string joined;
  for (const std::string_view word : words) {
    joined += joined.empty() ? "" : ",";
    joined += word;
  }
  return joined;
}

}  // namespace

std::vector<std::string_view> split_ids(std::string_view text) {
  constexpr std::string_view kSeparators = ", \t\n";
  std::vector<std::string_view> ids;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kSeparators), text.size()));
    if (text.empty()) {
      return ids;
    }
    const std::size_t end = std::min(text.find_first_of(kSeparators), text.size());
    ids.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

std::vector<std::size_t> find_devices(std::string_view id, std::span<const DeviceInfo> devices) {
  std::vector<std::size_t> exact;
  std::vector<std::size_t> slices;
  std::vector<std::size_t> begun;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const DeviceSpec& spec = devices[i].spec;
    if (spec.name == id || (!spec.uuid.empty() && spec.uuid == id)) {
      exact.push_back(i);
    } else if (spec.name.size() > id.size() && spec.name.starts_with(id) &&
               spec.name[id.size()] == ':') {
      slices.push_back(i);
    } else if (looks_like_uuid(id) && spec.uuid.starts_with(id)) {
      begun.push_back(i);
    }
  }
  if (!exact.empty()) {
    return exact;
  }
  if (!slices.empty()) {
    return slices;
  }
  return begun.size() == 1 ? begun : std::vector<std::size_t>{};
}

std::vector<std::size_t> apply_mask(std::string_view mask, std::span<const DeviceInfo> devices) {
  std::vector<std::size_t> shown;
  for (const std::string_view word : split_ids(mask)) {
    const std::vector<std::size_t> found = find_devices(word, devices);
    const bool again = std::any_of(found.begin(), found.end(), [&](std::size_t index) {
      return std::find(shown.begin(), shown.end(), index) != shown.end();
    });
    if (found.empty() || again) {
      break;
    }
    shown.insert(shown.end(), found.begin(), found.end());
  }
  return shown;
}

std::map<std::string, std::optional<std::string>> visibility(std::span<const DeviceInfo> leased) {
  const std::string words = join_words(leased);
  std::map<std::string, std::optional<std::string>> variables;
  if (words.empty() || leased.front().family == DeviceFamily::Amd) {
    variables["ROCR_VISIBLE_DEVICES"] = words;
    // These count within what ROCR_VISIBLE_DEVICES shows: inherited ones would hide more.
    variables["HIP_VISIBLE_DEVICES"] = std::nullopt;
    variables["GPU_DEVICE_ORDINAL"] = std::nullopt;
    variables["CUDA_VISIBLE_DEVICES"] = std::nullopt;
  }
  if (words.empty() || leased.front().family != DeviceFamily::Amd) {
    variables["CUDA_VISIBLE_DEVICES"] = words;
    variables["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
  }
  return variables;
}

}  // namespace berth
