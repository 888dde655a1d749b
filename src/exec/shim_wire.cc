#include "exec/shim_wire.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "exec/shim_runner.h"

namespace berth {
namespace {

constexpr std::size_t kLargestRequest = 256 * 1024 * 1024;

struct RequestHeader {
  std::uint32_t size = 0;  // with this header
  std::uint32_t variables = 0;
  std::uint64_t serial = 0;
  std::uint64_t job = 0;
  std::uint32_t attempt = 0;
  std::uint32_t user = 0;
  std::uint32_t locks = 0;
};

}  // namespace

Result<std::string> encode_request(const ShimLaunch& launch, std::uint64_t serial,
                                   const std::string& cgroup, const std::string& spare_file) {
  std::string bytes(sizeof(RequestHeader), '\0');
  bool clean = true;
  const auto add = [&](const std::string& text) {
    clean = clean && text.find('\0') == text.npos && bytes.size() < kLargestRequest;
    if (clean) {
      bytes.append(text.c_str(), text.size() + 1);
    }
  };
  add(launch.command);
  add(launch.directory);
  add(launch.stdout_path);
  add(launch.stderr_path);
  add(cgroup);
  add(spare_file);
  for (const std::string& variable : launch.environment) {
    add(variable);
  }
  for (const std::string& path : launch.locks) {
    add(path);
  }
  if (!clean || bytes.size() > kLargestRequest) {
    return fail(ErrorCode::Usage,
                "the command, its paths or its environment hold a null character, or are larger "
                "than a program can be given");
  }
  const RequestHeader header{static_cast<std::uint32_t>(bytes.size()),
                             static_cast<std::uint32_t>(launch.environment.size()),
                             serial,
                             launch.job.value,
                             launch.attempt,
                             launch.user,
                             static_cast<std::uint32_t>(launch.locks.size())};
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

std::optional<std::size_t> request_size(std::string_view bytes) {
  std::uint32_t size = 0;
  if (bytes.size() < sizeof size) {
    return std::nullopt;
  }
  std::memcpy(&size, bytes.data(), sizeof size);
  return size;
}

std::uint64_t request_serial(const char* bytes) {
  RequestHeader header;
  std::memcpy(&header, bytes, sizeof header);
  return header.serial;
}

ShimRequest decode_request(char* bytes) {
  RequestHeader header;
  std::memcpy(&header, bytes, sizeof header);
  char* next = bytes + sizeof header;
  const auto take = [&] {
    char* text = next;
    next += std::strlen(next) + 1;
    return text;
  };
  ShimRequest request;
  request.serial = header.serial;
  request.name = {JobId{header.job}, static_cast<std::uint16_t>(header.attempt)};
  request.user = header.user;
  request.command = take();
  request.directory = take();
  request.stdout_path = take();
  request.stderr_path = take();
  request.cgroup = take();
  request.spare_file = take();
  request.environment.reserve(header.variables + 1);
  for (std::uint32_t i = 0; i < header.variables; ++i) {
    request.environment.push_back(take());
  }
  request.environment.push_back(nullptr);
  for (std::uint32_t i = 0; i < header.locks; ++i) {
    request.locks.push_back(take());
  }
  return request;
}

bool send_message(int socket, const ShimMessage& message, int descriptor) {
  iovec content{const_cast<ShimMessage*>(&message), sizeof message};
  msghdr header{};
  header.msg_iov = &content;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptor)] = {};
  if (descriptor >= 0) {
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    cmsghdr* first = CMSG_FIRSTHDR(&header);
    first->cmsg_level = SOL_SOCKET;
    first->cmsg_type = SCM_RIGHTS;
    first->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(first), &descriptor, sizeof descriptor);
  }
  for (;;) {
    if (::sendmsg(socket, &header, MSG_NOSIGNAL) >= 0) {
      return true;
    }
    if (errno != EINTR) {
      return false;
    }
  }
}

Receive receive_message(int socket, ReceivedMessage& received) {
  iovec content{&received.message, sizeof received.message};
  msghdr header{};
  header.msg_iov = &content;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  ssize_t size = 0;
  do {
    size = ::recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    return Receive::Nothing;
  }
  if (size != static_cast<ssize_t>(sizeof received.message)) {
    return Receive::Closed;
  }
  received.descriptor.reset();
  const cmsghdr* first = CMSG_FIRSTHDR(&header);
  if (first != nullptr && first->cmsg_type == SCM_RIGHTS) {
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(first), sizeof descriptor);
    received.descriptor = Fd(descriptor);
  }
  return Receive::Message;
}

}  // namespace berth
