#include "cluster/node_setup.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/secret.h"
#include "base/small_files.h"
#include "cluster/ask_cluster.h"
#include "cluster/box_daemons.h"
#include "cluster/conf_files.h"
#include "cluster/conf_texts.h"
#include "cluster/look_at_box.h"
#include "cluster/munge_key.h"
#include "cluster/private_munge.h"

namespace berth {
namespace {

/// What munge said of a credential, as a sentence of what to do.
Error explain_refusal(const std::string& word, const std::string& head) {
  if (word == "Rewound credential" || word == "Expired credential") {
    return {ErrorCode::Refused,
            fmt::format("the clocks of this box and of {} are more than five minutes apart: set "
                        "them (timedatectl set-ntp true), and join again",
                        head)};
  }
  if (word == "Invalid credential") {
    return {ErrorCode::Refused,
            fmt::format("{} does not know this token: type it as the head shows it; an older one "
                        "is void (berth cluster invite makes a new one)",
                        head)};
  }
  return {ErrorCode::Refused, fmt::format("{} refused: {}", head, word)};
}

Result<JoinAnswer> exchange(PrivateMunge& munge, const HostPort& head, const JoinRequest& request) {
  const Result<std::string> sent = munge.encode(to_text(request));
  if (!sent) {
    return Failure(sent.error());
  }
  const Result<Fd> socket = connect_to(head.host, head.port, std::chrono::seconds(10));
  if (!socket) {
    return fail(socket.error().code,
                fmt::format("{}; is the invitation still open? On the head: berth cluster invite",
                            socket.error().message));
  }
  const Result<void> asked = send_line(socket->get(), *sent);
  const Result<std::string> line =
      asked ? receive_line(socket->get(), 64 * 1024, std::chrono::minutes(1))
            : Failure(asked.error());
  if (!line) {
    return Failure(line.error());
  }
  if (line->starts_with("refused ")) {
    return Failure(explain_refusal(line->substr(8, 100), head.host));
  }
  const Result<std::string> text = munge.decode(*line);
  if (!text) {
    return Failure(explain_refusal(text.error().message, head.host));
  }
  Result<JoinAnswer> answer = parse_join_answer(*text);
  if (answer && !answer->refusal.empty()) {
    return fail(ErrorCode::Refused,
                fmt::format("{} does not let this box in: {}", head.host, answer->refusal));
  }
  if (answer && answer->nonce != request.nonce) {
    return fail(ErrorCode::Refused, "the answer belongs to another request");
  }
  return answer;
}

Result<void> write_told(const Tell& tell, const std::string& path, std::string_view text) {
  const Result<std::string> backup = write_conf_file(path, text);
  if (!backup) {
    return Failure(backup.error());
  }
  tell_written(tell, path, *backup);
  return {};
}

}  // namespace

Result<JoinAnswer> ask_to_join(Commands& commands, const HostPort& head, std::string_view token,
                               const BoxFacts& box) {
  const Result<std::string> key = key_of_token(token);
  if (!key) {
    return Failure(key.error());
  }
  const Result<std::unique_ptr<PrivateMunge>> munge =
      PrivateMunge::open(commands, "/run/berth-join-" + random_name(), *key);
  if (!munge) {
    return Failure(munge.error());
  }
  const JoinRequest request{random_name(), box.name, box.version, box.cgroups, box.gpus};
  return exchange(**munge, head, request);
}

Result<void> set_up_node(Commands& commands, const Places& places, const std::string& head,
                         const JoinAnswer& answer, const BoxFacts& box, const Tell& tell) {
  if (const Result<void> written = replace_munge_key(places, answer.key); !written) {
    return written;
  }
  tell(fmt::format("wrote {}, the key of the cluster {}", places.munge_key(), answer.cluster));
  const std::vector<std::string> words = slurmd_words(head, box.gpus);
  const std::string options = read_small_file(places.slurmd_options()).value_or("");
  if (const Result<void> written =
          write_told(tell, places.slurmd_options(), with_slurmd_options(options, words));
      !written) {
    return written;
  }
  if (box.systemd) {
    if (const Result<void> written = write_told(tell, places.slurmd_drop_in(), slurmd_drop_in());
        !written) {
      return written;
    }
  }
  if (const Result<void> made = make_simulated_gpus(box.gpus, places); !made) {
    return made;
  }
  const Result<std::string> folder = run_or_fail(
      commands, {"install", "-d", "-m", "755", "/var/lib/slurm/slurmd", "/var/log/slurm"});
  if (!folder) {
    return Failure(folder.error());
  }
  BoxDaemons daemons(commands, places, box.systemd);
  if (const Result<void> started = daemons.restart_munged(); !started) {
    return started;
  }
  if (const Result<void> started = daemons.restart_slurmd(words); !started) {
    return Failure(with_log(started.error(), places.slurmd_log()));
  }
  if (const Result<void> up = wait_for_node(commands, box.name, std::chrono::minutes(1)); !up) {
    return Failure(with_log(up.error(), places.slurmd_log()));
  }
  tell(fmt::format("munged and slurmd run; {} takes jobs", box.name));
  return {};
}

Result<void> take_down_node(Commands& commands, const Places& places, const std::string& node,
                            bool systemd, const Tell& tell) {
  BoxDaemons daemons(commands, places, systemd);
  if (const Result<void> stopped = daemons.stop_slurmd(); !stopped) {
    return stopped;
  }
  tell("slurmd is stopped");
  // Slurm forgets a node that joined by itself; one with a line in slurm.conf stays, drained.
  const Result<std::string> deleted =
      run_or_fail(commands, {"scontrol", "delete", "NodeName=" + node});
  tell(deleted ? fmt::format("the cluster has forgotten {}", node)
               : fmt::format("the cluster still lists {} ({}): on the head, scontrol delete "
                             "NodeName={}",
                             node, deleted.error().message, node));
  const std::string options = read_small_file(places.slurmd_options()).value_or("");
  if (const Result<void> written =
          write_told(tell, places.slurmd_options(), with_slurmd_options(options, {}));
      !written) {
    return written;
  }
  if (::unlink(places.slurmd_drop_in().c_str()) == 0) {
    tell("removed " + places.slurmd_drop_in());
  }
  if (const Result<void> renewed = renew_munge_key(places); !renewed) {
    return renewed;
  }
  tell(fmt::format("made a new {}: this box no longer has the cluster's", places.munge_key()));
  return daemons.restart_munged();
}

}  // namespace berth
