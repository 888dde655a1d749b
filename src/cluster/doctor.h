// The doctor: from facts about this box and its cluster to what is wrong, in words that say what to
// do. Pure; look_at_cluster.h collects the facts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/box_facts.h"
#include "cluster/cluster_state.h"
#include "cluster/munge_key.h"

namespace berth {

/// A box that did not accept what another said, as a daemon's log tells it.
struct RefusedCredential {
  std::string peer;     // its address; empty when the log does not say
  bool clocks = false;  // else: the keys differ
  double ahead = 0;     // seconds by which the peer's clock is ahead
};

/// A port of Slurm's that this box tried to reach.
struct TriedPort {
  std::string whose;  // the node's name
  std::string address;
  int port = 0;
  std::string daemon;  // that should listen there
  bool refused = false;
  std::string error;  // empty: it was reached
};

/// What a job of a second told of another node.
struct NodeProbe {
  std::string node;
  std::optional<double> clock_ahead;  // seconds, of its clock before ours
  double clock_doubt = 0;             // how far that can be off
  std::optional<std::map<std::string, long>> users;
  std::optional<bool> shares_folder;
};

struct DoctorFacts {
  std::string box;
  bool installed = true;
  bool head = false;  // slurmctld belongs here
  bool node = true;   // slurmd belongs here
  MungeKeyFacts key;
  bool munge_works = true;
  bool slurmctld_runs = true;
  bool slurmd_runs = true;
  std::string slurmctld_error;  // the last that its log tells
  std::string slurmd_error;
  std::string conf_path;
  std::string conf_error;        // why Slurm cannot read slurm.conf
  std::string stray_conf;        // a slurm.conf that differs from what the head has sent
  std::string process_tracking;  // ProctrackType
  Cgroups cgroups = Cgroups::V2;
  std::vector<std::string> missing_gpu_files;  // in gres.conf, and not on this box
  std::optional<std::size_t> driver_gpus;      // as the driver lists them
  std::size_t gres_gpus = 0;                   // as gres.conf lists them for this box
  std::vector<std::string> unresolved_names;
  std::vector<TriedPort> ports;
  std::string silence;  // why the cluster does not answer; empty: it does
  bool refused_by_head = false;
  ClusterState cluster;
  std::vector<RefusedCredential> refusals;
  std::map<std::string, long> users;  // of this box
  std::string shared_folder;          // that was looked for on the other nodes
  std::vector<NodeProbe> probes;
};

struct Finding {
  std::string fault;  // a word for programs: "munge-key-mode"
  bool serious = true;
  std::string where;  // the box
  std::string what;
  std::string remedy;
};

/// All that is wrong, causes before what follows from them.
std::vector<Finding> diagnose(const DoctorFacts& facts);
/// How many different things were looked at.
std::size_t count_checks();

/// Refused credentials in the log of slurmctld or slurmd, those not older than `since`, which is in
/// the log's own form: "2026-11-18T17:48:45".
std::vector<RefusedCredential> read_refusals(std::string_view log, std::string_view since);

}  // namespace berth
