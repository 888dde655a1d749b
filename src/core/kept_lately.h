// KeptLately: values by name, of which those that were used last are kept. Names come from users,
// so there may be any number of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace berth {

template <class Value>
class KeptLately {
 public:
  explicit KeptLately(std::size_t most) : most_(most) {}

  /// nullptr: there is none of this name. Does not count as a use.
  const Value* find(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second.value;
  }

  /// The value of this name, made of `arguments` if there is none. One that was not used for long
  /// may go for it.
  template <class... Arguments>
  Value& use(const std::string& name, Arguments&&... arguments) {
    auto found = values_.find(name);
    if (found == values_.end()) {
      if (values_.size() >= most_) {
        values_.erase(by_use_.begin()->second);
        by_use_.erase(by_use_.begin());
      }
      found = values_.emplace(name, Kept{Value(std::forward<Arguments>(arguments)...)}).first;
    } else {
      by_use_.erase(found->second.used);
    }
    found->second.used = ++uses_;
    by_use_.emplace(uses_, found);
    return found->second.value;
  }

  std::size_t size() const { return values_.size(); }

 private:
  struct Kept {
    Value value;
    std::uint64_t used = 0;
  };
  using Values = std::map<std::string, Kept, std::less<>>;

  std::size_t most_;
  Values values_;
  std::map<std::uint64_t, typename Values::iterator> by_use_;
  std::uint64_t uses_ = 0;
};

}  // namespace berth
