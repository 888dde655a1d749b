// Enrolment: what a box that joins and the head say to each other, as texts. Pure.
//
// The two share a token that a person carries from one screen to the other. Each message is a
// credential of munge, made with the token as its key (private_munge.h): encrypted, authenticated,
// short-lived and good for one time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/box_facts.h"
#include "cluster/cluster_state.h"

namespace berth {

inline constexpr int kInvitationPort = 6816;  // below those of Slurm itself
inline constexpr int kSlurmctldPort = 6817;
inline constexpr int kSlurmdPort = 6818;

/// 128 random bits as eight groups of four digits: "3f9a-…".
Result<std::string> make_token();
/// The token as a key for munge; forgives blanks, dashes and capital letters.
Result<std::string> key_of_token(std::string_view token);

struct JoinRequest {
  std::string nonce;    // the answer repeats it
  std::string name;     // of the box
  std::string version;  // of its Slurm
  Cgroups cgroups = Cgroups::None;
  std::vector<GpuFile> gpus;
};

struct JoinAnswer {
  std::string nonce;
  std::string refusal;  // why the box may not join; empty: it may
  std::string cluster;
  std::string key;  // of munge, bytes
};

std::string to_text(const JoinRequest& request);
std::string to_text(const JoinAnswer& answer);
/// Errors for anything that must not get into a configuration file.
Result<JoinRequest> parse_join_request(std::string_view text);
Result<JoinAnswer> parse_join_answer(std::string_view text);

/// Why this box may not join the cluster; empty when it may. `confines`: slurm.conf uses cgroups
/// v2.
std::string join_objection(const JoinRequest& request, const ClusterState& cluster, bool confines);

}  // namespace berth
