// PrivateMunge: a munged of its own with a key of its own, for messages between two boxes that
// share that key. Munge encrypts and authenticates them, and takes each one once and for five
// minutes only.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/commands.h"

namespace berth {

class PrivateMunge {
 public:
  /// `folder` is made for root alone, and removed at the end.
  static Result<std::unique_ptr<PrivateMunge>> open(Commands& commands, const std::string& folder,
                                                    std::string_view key);
  ~PrivateMunge();
  PrivateMunge(const PrivateMunge&) = delete;
  PrivateMunge& operator=(const PrivateMunge&) = delete;

  /// One line. Only root can read it again.
  Result<std::string> encode(std::string_view text);
  /// The text of a credential that root made elsewhere with the same key. The error is munge's own
  /// word: "Invalid credential", "Expired credential", "Rewound credential", "Replayed credential".
  Result<std::string> decode(std::string_view credential);

 private:
  PrivateMunge(Commands& commands, std::string folder)
      : commands_(commands), folder_(std::move(folder)) {}
  std::string socket() const { return folder_ + "/socket"; }

  Commands& commands_;
  std::string folder_;
};

/// What `unmunge --keys=STATUS,UID` printed: the payload, if root made it.
Result<std::string> read_unmunged(std::string_view text);

}  // namespace berth
