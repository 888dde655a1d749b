#include "gpu/amd/amd_devices.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <map>
#include <tuple>

#include "base/fd.h"
#include "base/small_files.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> entries(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// The first line of a file; empty where there is none.
std::string read_line(const std::string& path) {
  std::string text = read_small_file(path, 4096).value_or("");
  text.erase(std::min(text.find('\n'), text.size()));
  return text;
}

std::optional<std::int64_t> to_number(std::string_view text, int base = 10) {
  if (base == 16 && text.starts_with("0x")) {
    text.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end == text.data()) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(value);
}

std::optional<std::int64_t> read_number(const std::string& path) {
  return to_number(read_line(path));
}

/// What stands behind `key` in a file of "key value" or "KEY=value" lines; empty where absent.
std::string find_value(const std::string& path, std::string_view key) {
  const std::string text = read_small_file(path, 65536).value_or("");
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.size() > key.size() && line.starts_with(key) &&
        (line[key.size()] == ' ' || line[key.size()] == '=')) {
      return std::string(line.substr(key.size() + 1));
    }
  }
  return "";
}

struct Card {
  std::string folder;  // …/card0/device
  std::string hwmon;   // empty where there is none
  std::string bus;
  std::string unique_id;  // sixteen hexadecimal digits, or empty
  std::string kfd_id;     // the compute driver's number of it; empty where it is not loaded
};

std::string find_hwmon(const std::string& device) {
  for (const std::string& name : entries(device + "/hwmon")) {
    if (name.starts_with("hwmon")) {
      return fmt::format("{}/hwmon/{}", device, name);
    }
  }
  return "";
}

/// PCI address to the number under which the compute driver lists the memory of processes.
std::map<std::string, std::string> read_kfd_ids(const std::string& sysfs) {
  std::map<std::string, std::string> ids;
  const std::string nodes = sysfs + "/class/kfd/kfd/topology/nodes";
  for (const std::string& node : entries(nodes)) {
    const std::string id = read_line(fmt::format("{}/{}/gpu_id", nodes, node));
    const std::string properties = fmt::format("{}/{}/properties", nodes, node);
    const auto place = to_number(find_value(properties, "location_id"));
    const auto domain = to_number(find_value(properties, "domain")).value_or(0);
    if (!id.empty() && id != "0" && place) {  // 0: a processor
      ids[fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, *place >> 8 & 0xff, *place >> 3 & 0x1f,
                      *place & 7)] = id;
    }
  }
  return ids;
}

std::vector<Card> find_cards(const std::string& sysfs) {
  const std::map<std::string, std::string> kfd_ids = read_kfd_ids(sysfs);
  const std::string drm = sysfs + "/class/drm";
  std::vector<Card> cards;
  for (const std::string& name : entries(drm)) {
    Card card;
    card.folder = fmt::format("{}/{}/device", drm, name);
    // "card0" has a device of its own; "card0-DP-1" is a socket for a screen.
    if (!name.starts_with("card") || name.find('-') != name.npos ||
        read_line(card.folder + "/vendor") != "0x1002" ||
        !read_number(card.folder + "/mem_info_vram_total")) {
      continue;
    }
    card.hwmon = find_hwmon(card.folder);
    card.bus = find_value(card.folder + "/uevent", "PCI_SLOT_NAME");
    if (const auto id = to_number(read_line(card.folder + "/unique_id"), 16); id && *id != 0) {
      card.unique_id = fmt::format("{:016x}", static_cast<std::uint64_t>(*id));
    }
    if (const auto found = kfd_ids.find(card.bus); found != kfd_ids.end()) {
      card.kfd_id = found->second;
    }
    cards.push_back(std::move(card));
  }
  // The graphics inside a processor have no unique id. Beside real cards they are not for jobs.
  const auto is_card = [](const Card& card) { return !card.unique_id.empty(); };
  if (std::any_of(cards.begin(), cards.end(), is_card)) {
    std::erase_if(cards, [&](const Card& card) { return !is_card(card); });
  }
  std::sort(cards.begin(), cards.end(), [](const Card& a, const Card& b) {
    return std::tie(a.bus, a.folder) < std::tie(b.bus, b.folder);
  });
  return cards;
}

class AmdDevices final : public DriverDevices {
 public:
  explicit AmdDevices(std::string sysfs) : sysfs_(std::move(sysfs)), cards_(find_cards(sysfs_)) {
    std::map<std::string, std::uint16_t> islands;
    for (std::size_t i = 0; i < cards_.size(); ++i) {
      list_.push_back(describe(cards_[i], i, islands));
    }
  }

  const std::vector<DeviceInfo>& list() const override { return list_; }

  void keep(std::span<const std::size_t> chosen) override {
    list_ = gather(list_, chosen);
    cards_ = gather(cards_, chosen);
  }

  std::vector<DeviceSample> sample() override {
    std::vector<DeviceSample> samples;
    samples.reserve(cards_.size());
    for (const Card& card : cards_) {
      samples.push_back(read(card));
    }
    read_processes(samples);
    return samples;
  }

  Result<void> set_power_limit(std::size_t index, double watts) override {
    const std::string path = cards_.at(index).hwmon + "/power1_cap";
    const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    const std::string text = fmt::format("{:.0f}\n", watts * 1e6);
    if (!file || ::write(file.get(), text.data(), text.size()) < 0) {
      return fail_errno(
          fmt::format("cannot set the power limit of device {}", list_.at(index).spec.name), errno);
    }
    return {};
  }

 private:
  static DeviceInfo describe(const Card& card, std::size_t index,
                             std::map<std::string, std::uint16_t>& islands) {
    DeviceInfo info;
    info.family = DeviceFamily::Amd;
    info.pci_bus = card.bus;
    info.spec.name = fmt::format("{}", index);
    info.spec.model = read_line(card.folder + "/product_name");
    if (info.spec.model.empty()) {
      info.spec.model = fmt::format("AMD {}", read_line(card.folder + "/device"));
    }
    info.spec.memory = Bytes{read_number(card.folder + "/mem_info_vram_total").value_or(0)};
    info.spec.uuid = card.unique_id.empty() ? "" : "GPU-" + card.unique_id;
    info.visible = info.spec.uuid.empty() ? info.spec.name : info.spec.uuid;
    const auto numa = read_number(card.folder + "/numa_node").value_or(0);
    info.spec.locality.numa = static_cast<std::uint16_t>(numa);
    // Cards of one XGMI hive share an island; one without a hive has its own.
    std::string hive = read_line(card.folder + "/xgmi_hive_info/xgmi_hive_id");
    hive = hive.empty() ? card.folder : hive;
    const auto next = static_cast<std::uint16_t>(islands.size());
    info.spec.locality.island = islands.emplace(hive, next).first->second;
    return info;
  }

  static DeviceSample read(const Card& card) {
    DeviceSample sample;
    std::error_code error;
    if (!fs::exists(card.folder, error)) {
      sample.lost = true;
      return sample;
    }
    if (const auto used = read_number(card.folder + "/mem_info_vram_used")) {
      sample.used = Bytes{*used};
    }
    if (const auto busy = read_number(card.folder + "/gpu_busy_percent")) {
      sample.utilization = static_cast<int>(*busy);
    }
    const auto watts = [&](const char* name) -> std::optional<double> {
      const auto microwatts = read_number(fmt::format("{}/{}", card.hwmon, name));
      return microwatts ? std::optional(static_cast<double>(*microwatts) / 1e6) : std::nullopt;
    };
    sample.power = watts("power1_average");
    if (!sample.power) {
      sample.power = watts("power1_input");
    }
    sample.power_limit = watts("power1_cap");
    if (const auto millidegrees = read_number(card.hwmon + "/temp1_input")) {
      sample.temperature = static_cast<int>(*millidegrees / 1000);
    }
    return sample;
  }

  /// The compute driver has a folder per process, with a file per device.
  void read_processes(std::vector<DeviceSample>& samples) const {
    const std::string folder = sysfs_ + "/class/kfd/kfd/proc";
    for (const std::string& name : entries(folder)) {
      const auto pid = to_number(name);
      for (std::size_t i = 0; pid && i < cards_.size(); ++i) {
        const auto bytes =
            read_number(fmt::format("{}/{}/vram_{}", folder, name, cards_[i].kfd_id));
        if (bytes && *bytes > 0) {
          samples[i].processes.push_back({static_cast<pid_t>(*pid), Bytes{*bytes}});
        }
      }
    }
  }

  std::string sysfs_;
  std::vector<Card> cards_;
  std::vector<DeviceInfo> list_;  // one per card
};

}  // namespace

std::unique_ptr<DriverDevices> open_amd(const std::string& sysfs) {
  return std::make_unique<AmdDevices>(sysfs);
}

}  // namespace berth
