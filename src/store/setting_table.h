// SettingTable: what the daemon was told and must still know after a restart. Handed out by Store,
// which says how writes gather and what they report.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth {

class Backing;

class SettingTable {
 public:
  explicit SettingTable(Backing& backing) : backing_(backing) {}

  Result<void> set(std::string name, std::string value);
  /// Absent when it was never set.
  Result<std::optional<std::string>> get(std::string_view name);

 private:
  Backing& backing_;
};

}  // namespace berth
