// `berth ui`: a link that signs in to the web page, and a browser for it.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "api/messages/login.h"
#include "base/fd.h"
#include "cli/commands.h"
#include "cli/toolkit/args.h"
#include "cli/toolkit/daemon_client.h"
#include "cli/toolkit/words.h"

namespace berth {
namespace {

constexpr std::string_view kUiName = "berth ui";

/// The program that opens a link, or nothing where there is nobody to look at it.
std::string browser() {
  if (const std::string chosen = environment_variable("BROWSER"); !chosen.empty()) {
    return chosen.substr(0, chosen.find(':'));  // a list, the first of it best
  }
  const bool has_display =
      !environment_variable("DISPLAY").empty() || !environment_variable("WAYLAND_DISPLAY").empty();
  return has_display ? "xdg-open" : "";
}

/// In a process of its own, which outlives this one and writes nothing into its terminal. No shell
/// sees the link. False where the program cannot be started.
bool open_browser(const std::string& program, const std::string& url) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return false;
  }
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::fork() == 0) {
      ::setsid();
      const int null = ::open("/dev/null", O_RDWR);
      for (int fd = 0; fd < 3; ++fd) {
        ::dup2(null, fd);
      }
      ::execlp(program.c_str(), program.c_str(), url.c_str(), nullptr);
      (void)!::write(writer.get(), "x", 1);
    }
    ::_exit(0);
  }
  writer.reset();
  if (child > 0) {
    ::waitpid(child, nullptr, 0);
  }
  // It ends without a word when the browser has been started.
  char failed = 0;
  ssize_t got = 0;
  while ((got = ::read(reader.get(), &failed, 1)) < 0 && errno == EINTR) {
  }
  return child > 0 && got == 0;
}

/// How somebody who sits elsewhere gets there. The port is the same on both ends: a page is known
/// by it.
void print_tunnel(const std::string& url) {
  char host[256] = "";
  (void)::gethostname(host, sizeof host - 1);
  const std::size_t begin = url.find("//") + 2;
  const std::string address = url.substr(begin, url.find('/', begin) - begin);
  const std::string port = address.substr(address.rfind(':') + 1);
  fmt::print(stderr, "from another machine, first: ssh -N -L {}:{} {}\n", port, address, host);
}

}  // namespace

int ui_main(Words words) {
  bool print = false;
  bool json = false;
  Args args(
      "berth ui [options]",
      "Opens the web page in a browser. The link signs you in: it works once, for two minutes.\n"
      "Where there is no display, the link is printed, with what makes it reachable from\n"
      "elsewhere. The browser is $BROWSER, or the desktop's own.");
  args.flag("--print", print, "print the link, open nothing");
  args.flag("--json", json, "print the link as JSON, open nothing");
  args.example("berth ui");
  args.example("berth ui --print");
  const Result<bool> parsed = args.parse(words);
  if (!parsed) {
    return report(kUiName, parsed.error());
  }
  if (!*parsed) {
    return 0;
  }
  const Result<std::string> answer = ask_daemon("POST", "/v1/login");
  const Result<LoginReply> link = as_message(answer, parse_login_reply);
  if (!link) {
    return report(kUiName, link.error());
  }
  if (json) {
    fmt::print("{}\n", *answer);
    return 0;
  }
  const std::string& url = link->url;
  if (!link->note.empty()) {
    fmt::print(stderr, "{}: {}\n", kUiName, link->note);
  }
  const std::string program = print ? "" : browser();
  if (!program.empty()) {
    if (open_browser(program, url)) {
      fmt::print("opened in the browser: {}\n", url.substr(0, url.find('#')));
      return 0;
    }
    fmt::print(stderr, "{}: cannot start {}; open this yourself:\n", kUiName, program);
  }
  fmt::print("{}\n", url);
  std::fflush(stdout);
  print_tunnel(url);
  return 0;
}

}  // namespace berth
