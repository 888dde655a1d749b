// The munge key: who has it is root to every box of the cluster.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/places.h"

namespace berth {

/// What there is at the key's path.
struct MungeKeyFacts {
  bool there = false;
  bool readable = false;  // by this process
  unsigned mode = 0;
  std::string owner;
  std::size_t bytes = 0;

  /// What munged would object to, in words; empty when nothing.
  std::string fault() const;
};

MungeKeyFacts look_at_munge_key(const Places& places);

/// Makes a key if there is none; takes over the one that is there, and mends its owner and mode.
Result<void> ensure_munge_key(const Places& places);
Result<std::string> read_munge_key(const Places& places);
/// Puts the key of another box into place; the former is kept beside it.
Result<void> replace_munge_key(const Places& places, std::string_view key);
/// A key that no other box has: this box is out of the cluster.
Result<void> renew_munge_key(const Places& places);

std::string to_hex(std::string_view bytes);
Result<std::string> from_hex(std::string_view digits);

}  // namespace berth
