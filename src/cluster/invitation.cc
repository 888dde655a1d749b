#include "cluster/invitation.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <thread>

#include "base/read_file.h"
#include "base/small_files.h"
#include "cluster/ask_cluster.h"
#include "cluster/conf_files.h"
#include "cluster/conf_texts.h"
#include "cluster/munge_key.h"
#include "cluster/tcp.h"

namespace berth {
namespace {

constexpr std::size_t kLongestMessage = 64 * 1024;
constexpr auto kLineTime = std::chrono::seconds(5);

Result<Fd> open_lock(const Places& places) {
  const std::string path = places.invitation() + ".lock";
  Fd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) {
    return fail_errno(fmt::format("cannot open {}", path), errno);
  }
  return lock;
}

bool take_lock(const Fd& lock) { return ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0; }

/// Who holds the lock has written its number into it.
Result<void> end_holder(const Fd& lock) {
  std::array<char, 32> text{};
  (void)::pread(lock.get(), text.data(), text.size() - 1, 0);
  const int pid = std::atoi(text.data());
  if (pid > 1) {
    ::kill(pid, SIGTERM);
  }
  for (int i = 0; i < 200; ++i) {
    if (take_lock(lock)) {
      return {};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return fail(ErrorCode::Unavailable,
              fmt::format("the invitation of process {} does not end", pid));
}

JoinAnswer refuse(const JoinRequest& request, std::string why) {
  return JoinAnswer{request.nonce, std::move(why), "", ""};
}

}  // namespace

JoinAnswer enrol(Commands& commands, const Places& places, const JoinRequest& request) {
  const Result<ClusterState> cluster = ask_cluster(commands);
  if (!cluster) {
    return refuse(request, "the head has no answer from slurmctld: " + cluster.error().message);
  }
  const std::string conf = read_small_file(places.slurm_conf()).value_or("");
  const bool confines = conf_value(conf, "ProctrackType") == "proctrack/cgroup";
  if (std::string why = join_objection(request, *cluster, confines); !why.empty()) {
    return refuse(request, std::move(why));
  }
  const Result<std::string> key = read_munge_key(places);
  if (!key) {
    return refuse(request, "the head cannot read its munge key: " + key.error().message);
  }
  const std::string gres = read_small_file(places.gres_conf()).value_or(empty_gres_conf());
  const std::string changed = with_node_gpus(gres, request.name, request.gpus);
  if (changed != gres) {
    const Result<std::string> written = write_conf_file(places.gres_conf(), changed);
    const Result<std::string> told =
        written ? run_or_fail(commands, {"scontrol", "reconfigure"}) : Failure(written.error());
    if (!told) {
      return refuse(request, told.error().message);
    }
  }
  return JoinAnswer{request.nonce, "", cluster->name, *key};
}

Result<bool> Invitation::end(const Places& places) {
  const Result<Fd> lock = open_lock(places);
  if (!lock) {
    return Failure(lock.error());
  }
  if (take_lock(*lock)) {
    return false;
  }
  const Result<void> ended = end_holder(*lock);
  return ended ? Result<bool>(true) : Failure(ended.error());
}

Result<Invitation> Invitation::open(Commands& commands, const Places& places, int port) {
  Invitation invitation(commands, places);
  Result<Fd> lock = open_lock(places);
  if (!lock) {
    return Failure(lock.error());
  }
  if (!take_lock(*lock)) {
    if (const Result<void> ended = end_holder(*lock); !ended) {
      return Failure(ended.error());
    }
  }
  invitation.lock_ = std::move(*lock);
  Result<Fd> socket = listen_on(port);
  if (!socket) {
    return Failure(socket.error());
  }
  invitation.socket_ = std::move(*socket);
  Result<std::string> token = make_token();
  const Result<std::string> key = token ? key_of_token(*token) : Failure(token.error());
  if (!key) {
    return Failure(key.error());
  }
  invitation.token_ = std::move(*token);
  // What a process that was killed has left.
  std::error_code ignored;
  std::filesystem::remove_all(places.invitation(), ignored);
  Result<std::unique_ptr<PrivateMunge>> munge =
      PrivateMunge::open(commands, places.invitation(), *key);
  if (!munge) {
    return Failure(munge.error());
  }
  invitation.munge_ = std::move(*munge);
  return invitation;
}

std::string Invitation::answer(std::string_view credential,
                               const std::function<void(std::string_view)>& heard) {
  const Result<std::string> text = munge_->decode(credential);
  if (!text) {
    heard(fmt::format("refused a box: {}", text.error().message));
    return "refused " +
           text.error().message;  // in clear: the other side has no key to read it with
  }
  const Result<JoinRequest> request = parse_join_request(*text);
  const JoinAnswer reply = request ? enrol(commands_, places_, *request)
                                   : JoinAnswer{"", request.error().message, "", ""};
  heard(reply.refusal.empty() ? fmt::format("let {} in", request->name)
                              : fmt::format("refused a box: {}", reply.refusal));
  const Result<std::string> line = munge_->encode(to_text(reply));
  return line ? *line : "refused " + line.error().message;
}

void Invitation::serve(Duration length, const std::function<void(std::string_view)>& heard) {
  (void)::ftruncate(lock_.get(), 0);
  const std::string pid = fmt::format("{}\n", ::getpid());
  (void)::pwrite(lock_.get(), pid.data(), pid.size(), 0);
  sigset_t ends;
  ::sigemptyset(&ends);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    ::sigaddset(&ends, signal);
  }
  ::sigprocmask(SIG_BLOCK, &ends, nullptr);
  const Fd told(::signalfd(-1, &ends, SFD_CLOEXEC));
  const auto deadline = std::chrono::steady_clock::now() + length;
  while (std::chrono::steady_clock::now() < deadline) {
    std::array<pollfd, 2> waits = {pollfd{socket_.get(), POLLIN, 0}, pollfd{told.get(), POLLIN, 0}};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (::poll(waits.data(), waits.size(), static_cast<int>(left.count()) + 1) <= 0) {
      continue;
    }
    if (waits[1].revents != 0) {
      return;
    }
    const Fd client(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client) {
      continue;
    }
    const Result<std::string> line = receive_line(client.get(), kLongestMessage, kLineTime);
    if (line) {
      (void)send_line(client.get(), answer(*line, heard));
    }
  }
}

}  // namespace berth
