#include "store/setting_table.h"

#include "store/backing.h"

namespace berth {

Result<void> SettingTable::set(std::string name, std::string value) {
  return backing_.group().add(SetSetting{std::move(name), std::move(value)});
}

Result<std::optional<std::string>> SettingTable::get(std::string_view name) {
  return backing_.reader().setting(name);
}

}  // namespace berth
