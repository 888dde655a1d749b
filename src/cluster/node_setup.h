// Brings this machine into the cluster of another, and out of it again.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/box_facts.h"
#include "cluster/commands.h"
#include "cluster/enrolment.h"
#include "cluster/head_setup.h"
#include "cluster/places.h"
#include "cluster/tcp.h"

namespace berth {

/// Asks the head to let this box in; the answer has the cluster's key.
Result<JoinAnswer> ask_to_join(Commands& commands, const HostPort& head, std::string_view token,
                               const BoxFacts& box);

/// Takes the key, starts munged and slurmd, and waits until this box takes jobs.
Result<void> set_up_node(Commands& commands, const Places& places, const std::string& head,
                         const JoinAnswer& answer, const BoxFacts& box, const Tell& tell);

/// Stops slurmd and takes back what set_up_node() has written. The node is drained already.
Result<void> take_down_node(Commands& commands, const Places& places, const std::string& node,
                            bool systemd, const Tell& tell);

}  // namespace berth
