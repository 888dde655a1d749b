#include "record/use_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace berth {
namespace {

constexpr std::string_view kUnknown = "[N/A]";

std::string percent(const std::optional<int>& value) {
  return value ? fmt::format("{} %", *value) : std::string(kUnknown);
}

/// A name must not break the line into other columns.
std::string plain(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char letter) { return letter == ',' || static_cast<unsigned char>(letter) < 0x20; }, ' ');
  return text;
}

}  // namespace

std::string use_timestamp(std::chrono::system_clock::time_point when) {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(when.time_since_epoch());
  const std::time_t seconds = since.count() / 1000;
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return fmt::format("{:04}/{:02}/{:02} {:02}:{:02}:{:02}.{:03}", local.tm_year + 1900,
                     local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec,
                     since.count() % 1000);
}

std::string use_row(const DeviceInfo& device, const DeviceSample& sample,
                    std::string_view timestamp) {
  return fmt::format("{}, {}, {}, {}, {}, {}\n", plain(device.spec.name), timestamp,
                     device.spec.model.empty() ? std::string(kUnknown) : plain(device.spec.model),
                     percent(sample.utilization), percent(sample.memory_busy),
                     sample.power ? fmt::format("{:.2f} W", *sample.power) : std::string(kUnknown));
}

}  // namespace berth
