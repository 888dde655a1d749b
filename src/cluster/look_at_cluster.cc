#include "cluster/look_at_cluster.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "base/secret.h"
#include "base/small_files.h"
#include "base/text.h"
#include "cluster/ask_cluster.h"
#include "cluster/box_daemons.h"
#include "cluster/conf_texts.h"
#include "cluster/enrolment.h"
#include "cluster/look_at_box.h"
#include "cluster/tcp.h"

namespace berth {
namespace {

constexpr auto kPortTime = std::chrono::seconds(3);
constexpr int kLogMinutes = 10;

double seconds_now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// As Slurm's logs write it.
std::string log_time(std::time_t when) {
  std::tm local{};
  ::localtime_r(&when, &local);
  char text[32];
  (void)std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &local);
  return text;
}

std::string newest_error(const std::string& log) {
  const std::vector<std::string> errors = last_errors(end_of_log(log), 1);
  return errors.empty() ? "" : errors[0];
}

/// The word after `option` in a line of options; empty when it has none.
std::string word_after(std::string_view line, std::string_view option) {
  while (!line.empty()) {
    if (take_until(line, ' ') == option) {
      return std::string(take_until(line, ' '));
    }
  }
  return "";
}

/// Where slurmctld is, as this box is told.
struct HeadPlace {
  std::string name;
  std::string address;
  int port = kSlurmctldPort;
};

HeadPlace find_head(const std::string& conf, const std::string& server) {
  HeadPlace head;
  std::string host = conf_value(conf, "SlurmctldHost");
  if (const std::size_t at = host.find('('); at != host.npos) {
    head.address = host.substr(at + 1, host.find(')') - at - 1);
    host = host.substr(0, at);
  }
  head.name = host;
  if (head.name.empty() && !server.empty()) {
    if (const Result<HostPort> there = parse_host(server, kSlurmctldPort)) {
      head = {there->host, there->host, there->port};
    }
  }
  if (head.address.empty()) {
    head.address = head.name;
  }
  if (const int port = std::atoi(conf_value(conf, "SlurmctldPort").c_str()); port > 0) {
    head.port = port;
  }
  return head;
}

/// "/dev/nvidia[0-1]" is written by hand; lines of berth's have one file each.
std::vector<std::string> gres_files(std::string_view gres, std::string_view node) {
  std::vector<std::string> files;
  while (!gres.empty()) {
    const std::string_view line = take_until(gres, '\n');
    const auto values = parse_one_line(line);
    const auto file = values.find("File");
    const auto of = values.find("NodeName");
    if (file != values.end() && file->second.find('[') == std::string::npos &&
        (of == values.end() || of->second == node)) {
      files.push_back(file->second);
    }
  }
  return files;
}

void look_at_files(DoctorFacts& facts, const Places& places, const std::string& server) {
  const std::optional<std::string> own = read_small_file(places.slurm_conf());
  const std::optional<std::string> sent = read_small_file(places.cached_conf());
  facts.head = own && server.empty();
  facts.conf_path = own ? places.slurm_conf() : places.cached_conf();
  if (own && !server.empty() && sent && *own != *sent) {
    facts.stray_conf = places.slurm_conf();
  }
  facts.process_tracking = conf_value(own ? *own : sent.value_or(""), "ProctrackType");
  const std::string gres =
      read_small_file(facts.head ? places.gres_conf() : places.at("/run/slurm/conf/gres.conf"))
          .value_or("");
  for (const std::string& file : gres_files(gres, facts.box)) {
    ++facts.gres_gpus;
    if (::access(places.at(file).c_str(), F_OK) != 0) {
      facts.missing_gpu_files.push_back(file);
    }
  }
}

/// Only where a driver shows GPUs: gres.conf may name simulated ones, or a driver may be missing.
void look_at_drivers(DoctorFacts& facts) {
  const Result<std::unique_ptr<Devices>> devices = open_devices("all");
  if (devices && facts.gres_gpus > 0) {
    facts.driver_gpus = (*devices)->list().size();
  }
}

void ask_slurm(DoctorFacts& facts, Commands& commands) {
  const Result<CommandOutput> asked = commands.run({"scontrol", "show", "node"});
  if (!asked) {
    facts.installed = asked.error().code != ErrorCode::NotFound;
    facts.silence = asked.error().message;
    return;
  }
  if (asked->ok()) {
    Result<ClusterState> cluster = ask_cluster(commands);
    if (cluster) {
      facts.cluster = std::move(*cluster);
    } else {
      facts.silence = cluster.error().message;
    }
    return;
  }
  facts.silence = last_line(asked->err + asked->out);
  facts.refused_by_head = facts.silence.find("Zero Bytes") != facts.silence.npos;
  if (asked->err.find("configuration file") != std::string::npos ||
      asked->err.find("Parsing error") != std::string::npos) {
    const std::vector<std::string> errors = last_errors(asked->err, 9);
    facts.conf_error = errors.empty() ? facts.silence : errors[0];
  }
}

void try_port(DoctorFacts& facts, const std::string& whose, const std::string& address, int port,
              const std::string& daemon) {
  TriedPort tried{whose, address, port, daemon, false, ""};
  const Result<Fd> socket = connect_to(address, port, kPortTime);
  if (!socket) {
    tried.error = socket.error().message;
    tried.refused = tried.error.ends_with("Connection refused");
  }
  if (socket || socket.error().code != ErrorCode::NotFound) {  // else its name does not resolve
    facts.ports.push_back(std::move(tried));
  }
}

void look_at_network(DoctorFacts& facts, const HeadPlace& head) {
  std::vector<std::string> names = {facts.box, head.address};
  for (const NodeState& node : facts.cluster.nodes) {
    names.push_back(node.address);
  }
  for (const std::string& name : names) {
    if (!name.empty() && !resolves(name) &&
        std::find(facts.unresolved_names.begin(), facts.unresolved_names.end(), name) ==
            facts.unresolved_names.end()) {
      facts.unresolved_names.push_back(name);
    }
  }
  if (!head.address.empty()) {
    try_port(facts, head.name, head.address, head.port, "slurmctld");
  }
  for (const NodeState& node : facts.cluster.nodes) {
    if (node.name != facts.box) {
      try_port(facts, node.name, node.address, kSlurmdPort, "slurmd");
    }
  }
}

Result<CommandOutput> run_on(Commands& commands, const std::string& node,
                             std::vector<std::string> words) {
  std::vector<std::string> line = {"srun",      "--quiet",    "--nodelist=" + node,
                                   "--nodes=1", "--ntasks=1", "--immediate=5",
                                   "--mem=1",   "--chdir=/",  "--job-name=berth-doctor"};
  line.insert(line.end(), words.begin(), words.end());
  return commands.run(line, {}, std::chrono::seconds(15));
}

NodeProbe probe_node(Commands& commands, const std::string& node, const std::string& marker) {
  NodeProbe probe;
  probe.node = node;
  const Result<CommandOutput> users = run_on(commands, node, {"getent", "passwd"});
  if (!users || !users->ok()) {
    return probe;  // it is busy: the other questions would wait, too
  }
  probe.users = read_users(users->out);
  const double before = seconds_now();
  const Result<CommandOutput> date = run_on(commands, node, {"date", "+%s.%N"});
  const double after = seconds_now();
  if (date && date->ok()) {
    probe.clock_ahead = std::atof(date->out.c_str()) - (before + after) / 2;
    probe.clock_doubt = (after - before) / 2;
  }
  if (!marker.empty()) {
    const Result<CommandOutput> seen = run_on(commands, node, {"test", "-e", marker});
    if (seen && seen->code <= 1) {
      probe.shares_folder = seen->code == 0;
    }
  }
  return probe;
}

void look_at_nodes(DoctorFacts& facts, Commands& commands) {
  const Result<CommandOutput> users = commands.run({"getent", "passwd"});
  facts.users = read_users(users ? users->out : "");
  std::string marker = facts.shared_folder + "/.berth-doctor-" + random_name();
  const Fd file(::open(marker.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file) {
    marker.clear();
  }
  for (const NodeState& node : facts.cluster.nodes) {
    if (node.name != facts.box && node.well()) {
      facts.probes.push_back(probe_node(commands, node.name, marker));
    }
  }
  if (file) {
    ::unlink(marker.c_str());
  }
}

}  // namespace

std::map<std::string, long> read_users(std::string_view passwd) {
  std::map<std::string, long> users;
  while (!passwd.empty()) {
    std::string_view line = take_until(passwd, '\n');
    const std::string name(take_until(line, ':'));
    (void)take_until(line, ':');
    if (!name.empty() && !line.empty()) {
      users[name] = std::atol(std::string(take_until(line, ':')).c_str());
    }
  }
  return users;
}

DoctorFacts look_at_cluster(Commands& commands, const Places& places,
                            const DoctorOptions& options) {
  DoctorFacts facts;
  facts.box = short_host_name();
  facts.shared_folder = options.shared_folder;
  const std::string server = word_after(
      slurmd_options_in(read_small_file(places.slurmd_options()).value_or("")), "--conf-server");
  ask_slurm(facts, commands);
  look_at_files(facts, places, server);
  facts.node = facts.head || !server.empty();
  facts.key = look_at_munge_key(places);
  facts.munge_works = BoxDaemons(commands, places, false).munge_works();
  facts.slurmctld_runs = !processes_of("slurmctld", places).empty();
  facts.slurmd_runs = !processes_of("slurmd", places).empty();
  facts.slurmctld_error = newest_error(places.slurmctld_log());
  facts.slurmd_error = newest_error(places.slurmd_log());
  facts.cgroups = look_for_cgroups(places);
  look_at_drivers(facts);
  const std::string conf = read_small_file(facts.conf_path).value_or("");
  look_at_network(facts, find_head(conf, server));
  const std::string since = log_time(std::time(nullptr) - kLogMinutes * 60);
  facts.refusals =
      read_refusals(end_of_log(facts.head ? places.slurmctld_log() : places.slurmd_log()), since);
  if (options.jobs) {
    look_at_nodes(facts, commands);
  }
  return facts;
}

}  // namespace berth
