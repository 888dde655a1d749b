// `berth cluster invite`: lets other boxes join for a while.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "cli/cluster/cluster_options.h"
#include "cli/cluster/invite_words.h"
#include "cli/toolkit/clock.h"
#include "cluster/ask_cluster.h"
#include "cluster/invitation.h"
#include "cluster/look_at_box.h"

namespace berth {
namespace {

struct InviteCommand {
  InviteOptions options;
  std::string address;
  bool end = false;
};

Args invite_args(InviteCommand& command) {
  Args args("berth cluster invite [options]",
            "Lets other boxes join this head's cluster for half an hour, and prints a token to\n"
            "type there. It goes on in the background. Who has the token gets the cluster's munge\n"
            "key, and with it power over every box: say it to nobody else. A new invitation ends\n"
            "the one before.");
  add_invite_options(args, command.options);
  args.value("--address", "ADDRESS", "of this box, for what to type (default: its own)",
             command.address);
  args.flag("--end", command.end, "end the invitation now");
  args.example("sudo berth cluster invite");
  args.example("sudo berth cluster invite --end");
  return args;
}

void note(const Fd& log, std::string_view sentence) {
  const std::string line = fmt::format("{} {}\n", local_time(wall_clock_seconds()), sentence);
  (void)!::write(log.get(), line.data(), line.size());
}

/// In the child: nothing of the terminal is kept.
[[noreturn]] void serve_in_background(Invitation& invitation, Duration length) {
  ::setsid();
  const Fd log(
      ::open("/var/log/berth-invitation.log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  const int nothing = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd <= 2; ++fd) {
    ::dup2(nothing, fd);
  }
  (void)::chdir("/");
  note(log, "the invitation begins");
  invitation.serve(length, [&](std::string_view sentence) { note(log, sentence); });
  note(log, "the invitation is over");
  {
    const Invitation over = std::move(invitation);  // takes its munged down
  }
  ::_exit(0);
}

Result<int> invite(InviteCommand& command) {
  const Places places;
  ProcessCommands commands;
  if (const Result<void> root = need_root("invite"); !root) {
    return Failure(root.error());
  }
  if (command.end) {
    const Result<bool> ended = Invitation::end(places);
    if (!ended) {
      return Failure(ended.error());
    }
    fmt::print("{}\n", *ended ? "The invitation has ended." : "There is no invitation.");
    return 0;
  }
  const Result<ClusterState> cluster = ask_cluster(commands);
  if (!cluster) {
    return fail(ErrorCode::Unavailable,
                fmt::format("there is no cluster to invite to: {} (berth cluster init makes one)",
                            cluster.error().message));
  }
  if (::access(places.slurm_conf().c_str(), R_OK) != 0) {
    return fail(
        ErrorCode::Refused,
        fmt::format("this box is not the head of its cluster: invite on {}", cluster->head));
  }
  return invite_boxes(commands, places, command.address.empty() ? own_address() : command.address,
                      command.options);
}

}  // namespace

void add_invite_options(Args& args, InviteOptions& options) {
  args.value("--for", "TIME", "how long boxes may join (default: 30m)", options.length);
  args.value("--port", "PORT", "on which they ask (default: 6816)", options.port);
}

Result<int> invite_boxes(Commands& commands, const Places& places, const std::string& address,
                         const InviteOptions& options) {
  if (options.port <= 0 || options.port > 65535) {
    return fail(ErrorCode::Usage, "--port must be between 1 and 65535");
  }
  Result<Invitation> invitation =
      Invitation::open(commands, places, static_cast<int>(options.port));
  if (!invitation) {
    return Failure(invitation.error());
  }
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) {
    return fail_errno("cannot start a process for the invitation", errno);
  }
  if (child == 0) {
    serve_in_background(*invitation, options.length);
  }
  const std::string port =
      options.port == kInvitationPort ? "" : fmt::format(" --port {}", options.port);
  fmt::print(
      "On each other box, within {}:\n  sudo berth cluster join {}{}\n"
      "It asks for this token, which is good for this cluster's key: {}\n",
      format_duration(options.length), address, port, invitation->token());
  invitation->forget();
  return 0;
}

int cluster_invite_main(Words words) {
  InviteCommand command;
  return run_verb(invite_args(command), words, [&] { return invite(command); });
}

}  // namespace berth
