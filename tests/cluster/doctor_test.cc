#include "cluster/doctor.h"

#include <gtest/gtest.h>

#include <functional>

#include "cluster/look_at_cluster.h"

namespace berth {
namespace {

NodeState node_in(std::string name, std::vector<std::string> states) {
  NodeState node;
  node.address = "10.0.0." + name.substr(1);
  node.name = std::move(name);
  node.states = std::move(states);
  node.version = "22.05.8";
  return node;
}

DoctorFacts healthy() {
  DoctorFacts facts;
  facts.box = "head";
  facts.head = true;
  facts.key = {true, true, 0400, "munge", 128};
  facts.conf_path = "/etc/slurm/slurm.conf";
  facts.process_tracking = "proctrack/cgroup";
  facts.cluster.version = "22.05.8";
  facts.cluster.nodes = {node_in("n2", {"IDLE", "DYNAMIC_NORM"})};
  facts.users = {{"ann", 1001}, {"munge", 102}};
  facts.shared_folder = "/home";
  facts.probes = {
      {"n2", 0.1, 0.2, std::map<std::string, long>{{"ann", 1001}, {"munge", 107}}, true}};
  return facts;
}

struct DoctorCase {
  const char* fault;
  const char* where;
  std::function<void(DoctorFacts&)> spoil;
};

TEST(Doctor, FindsNothingWhereNothingIsWrong) { EXPECT_TRUE(diagnose(healthy()).empty()); }

TEST(Doctor, NamesEachFault) {
  const std::vector<DoctorCase> cases = {
      {"not-installed", "head", [](DoctorFacts& f) { f.installed = false; }},
      {"munge-key-missing", "head", [](DoctorFacts& f) { f.key = {}; }},
      {"munge-key-mode", "head", [](DoctorFacts& f) { f.key.mode = 0644; }},
      {"munge-key-mode", "head", [](DoctorFacts& f) { f.key.owner = "root"; }},
      {"munged-down", "head", [](DoctorFacts& f) { f.munge_works = false; }},
      {"slurm-conf-error", "head", [](DoctorFacts& f) { f.conf_error = "unrecognized key: X"; }},
      {"slurm-conf-differs", "head",
       [](DoctorFacts& f) { f.stray_conf = "/etc/slurm/slurm.conf"; }},
      {"no-cgroups", "head", [](DoctorFacts& f) { f.cgroups = Cgroups::None; }},
      {"no-cgroups", "head", [](DoctorFacts& f) { f.cgroups = Cgroups::V1; }},
      {"gpu-files", "head", [](DoctorFacts& f) { f.missing_gpu_files = {"/dev/nvidia1"}; }},
      {"gpu-count", "head",
       [](DoctorFacts& f) {
         f.driver_gpus = 2;
         f.gres_gpus = 1;
       }},
      {"slurmctld-down", "head", [](DoctorFacts& f) { f.slurmctld_runs = false; }},
      {"slurmd-down", "head", [](DoctorFacts& f) { f.slurmd_runs = false; }},
      {"name-unresolved", "head", [](DoctorFacts& f) { f.unresolved_names = {"n2"}; }},
      {"port-closed", "n2",
       [](DoctorFacts& f) {
         f.ports = {{"n2", "10.0.0.2", 6818, "slurmd", false, "No route to host"}};
       }},
      {"slurmd-down", "n2",
       [](DoctorFacts& f) {
         f.ports = {{"n2", "10.0.0.2", 6818, "slurmd", true, "Connection refused"}};
       }},
      {"munge-key-differs", "n2",
       [](DoctorFacts& f) {
         f.refusals = {{"10.0.0.2", false, 0}};
       }},
      {"clocks-apart", "n2",
       [](DoctorFacts& f) {
         f.refusals = {{"10.0.0.2", true, 3600}};
       }},
      {"clocks-apart", "n2", [](DoctorFacts& f) { f.probes[0].clock_ahead = -9; }},
      {"no-answer", "head", [](DoctorFacts& f) { f.silence = "connect failure"; }},
      {"refused-by-head", "head",
       [](DoctorFacts& f) {
         f.silence = "Zero Bytes";
         f.refused_by_head = true;
       }},
      {"node-drained", "n2",
       [](DoctorFacts& f) {
         f.cluster.nodes[0].states = {"IDLE", "DRAIN"};
       }},
      {"node-down", "n2", [](DoctorFacts& f) { f.cluster.nodes[0].states = {"DOWN"}; }},
      {"versions-apart", "n2", [](DoctorFacts& f) { f.cluster.nodes[0].version = "23.02.1"; }},
      {"uids-differ", "n2", [](DoctorFacts& f) { (*f.probes[0].users)["ann"] = 1002; }},
      {"user-missing", "n2", [](DoctorFacts& f) { f.probes[0].users->erase("ann"); }},
      {"no-shared-folder", "n2", [](DoctorFacts& f) { f.probes[0].shares_folder = false; }},
  };
  for (const DoctorCase& one : cases) {
    DoctorFacts facts = healthy();
    one.spoil(facts);
    const std::vector<Finding> found = diagnose(facts);
    ASSERT_EQ(found.size(), 1u) << one.fault;
    EXPECT_EQ(found[0].fault, one.fault);
    EXPECT_EQ(found[0].where, one.where) << one.fault;
    EXPECT_FALSE(found[0].what.empty() || found[0].remedy.empty()) << one.fault;
  }
}

TEST(Doctor, TellsTheCauseAndNotWhatFollows) {
  DoctorFacts facts = healthy();
  facts.munge_works = false;
  facts.silence = "Protocol authentication error";
  const std::vector<Finding> found = diagnose(facts);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].fault, "munged-down");
}

// Recorded from Slurm 22.05.8.
constexpr std::string_view kRefusals =
    "[2026-11-18T17:40:00.000] error: Munge decode failed: Invalid credential\n"
    "[2026-11-18T17:40:00.010] error: slurm_receive_msg [10.77.0.2:60090]: Unspecified error\n"
    "[2026-11-18T17:48:45.797] error: Munge decode failed: Rewound credential\n"
    "[2026-11-18T17:48:45.797] auth/munge: _print_cred: ENCODED: Wed Nov 18 18:48:45 2026\n"
    "[2026-11-18T17:48:45.797] auth/munge: _print_cred: DECODED: Wed Nov 18 17:48:45 2026\n"
    "[2026-11-18T17:48:45.797] error: Check for out of sync clocks\n"
    "[2026-11-18T17:48:45.797] error: slurm_unpack_received_msg: [] Protocol authentication error\n"
    "[2026-11-18T17:48:45.807] error: slurm_receive_msg [10.77.0.3:60110]: Unspecified error\n";

TEST(Doctor, ReadsRefusalsFromLogs) {
  const std::vector<RefusedCredential> all = read_refusals(kRefusals, "2026-11-18T17:39:00");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].peer, "10.77.0.2");
  EXPECT_FALSE(all[0].clocks);
  EXPECT_EQ(all[1].peer, "10.77.0.3");
  EXPECT_TRUE(all[1].clocks);
  EXPECT_EQ(all[1].ahead, 3600);
  EXPECT_EQ(read_refusals(kRefusals, "2026-11-18T17:45:00").size(), 1u);
  EXPECT_TRUE(read_refusals("", "").empty());
}

TEST(Doctor, ReadsUsers) {
  const std::map<std::string, long> users =
      read_users("root:x:0:0::/root:/bin/sh\nann:x:1001:\n\nx\n");
  EXPECT_EQ(users, (std::map<std::string, long>{{"root", 0}, {"ann", 1001}}));
}

}  // namespace
}  // namespace berth
