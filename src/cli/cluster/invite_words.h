// Letting other boxes in: shared by `berth cluster init` and `invite`.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "cli/toolkit/args.h"
#include "cluster/commands.h"
#include "cluster/enrolment.h"
#include "cluster/places.h"

namespace berth {

struct InviteOptions {
  Duration length = std::chrono::minutes(30);
  std::int64_t port = kInvitationPort;
};

void add_invite_options(Args& args, InviteOptions& options);

/// Leaves a process behind that lets boxes in, and prints what to type there.
Result<int> invite_boxes(Commands& commands, const Places& places, const std::string& address,
                         const InviteOptions& options);

}  // namespace berth
