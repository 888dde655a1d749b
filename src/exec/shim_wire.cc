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

constexpr std::size_t kMostDescriptors = 2;

/// One packet, with the descriptors that go along.
class Packet {
 public:
  Packet(void* bytes, std::size_t size) : content_{bytes, size} {
    header_.msg_iov = &content_;
    header_.msg_iovlen = 1;
  }
  Packet(const Packet&) = delete;
  Packet& operator=(const Packet&) = delete;

  void attach(int first, int second) {
    const int descriptors[kMostDescriptors] = {first, second};
    const std::size_t size = (first < 0 ? 0U : second < 0 ? 1U : 2U) * sizeof(int);
    if (size == 0) {
      return;
    }
    header_.msg_control = control_;
    header_.msg_controllen = CMSG_SPACE(size);
    cmsghdr* head = CMSG_FIRSTHDR(&header_);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(size);
    std::memcpy(CMSG_DATA(head), descriptors, size);
  }

  bool send(int socket, int flags) {
    ssize_t sent = 0;
    do {
      sent = ::sendmsg(socket, &header_, MSG_NOSIGNAL | flags);
    } while (sent < 0 && errno == EINTR);
    return sent >= 0;
  }

  ssize_t receive(int socket, int flags) {
    header_.msg_control = control_;
    header_.msg_controllen = sizeof control_;
    ssize_t size = 0;
    do {
      size = ::recvmsg(socket, &header_, MSG_CMSG_CLOEXEC | flags);
    } while (size < 0 && errno == EINTR);
    return size;
  }
  /// Those that came along, -1 for none.
  std::array<int, kMostDescriptors> descriptors() {
    std::array<int, kMostDescriptors> came = {-1, -1};
    const cmsghdr* head = CMSG_FIRSTHDR(&header_);
    if (head != nullptr && head->cmsg_type == SCM_RIGHTS) {
      std::memcpy(came.data(), CMSG_DATA(head),
                  std::min(head->cmsg_len - CMSG_LEN(0), sizeof came));
    }
    return came;
  }

 private:
  iovec content_;
  msghdr header_{};
  alignas(cmsghdr) char control_[CMSG_SPACE(kMostDescriptors * sizeof(int))] = {};
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

bool send_message(int socket, const ShimMessage& message, int descriptor, int second) {
  Packet packet(const_cast<ShimMessage*>(&message), sizeof message);
  packet.attach(descriptor, second);
  return packet.send(socket, 0);
}

Receive receive_message(int socket, ReceivedMessage& received) {
  Packet packet(&received.message, sizeof received.message);
  const ssize_t size = packet.receive(socket, MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    return Receive::Nothing;
  }
  if (size != static_cast<ssize_t>(sizeof received.message)) {
    return Receive::Closed;
  }
  const auto came = packet.descriptors();
  for (std::size_t i = 0; i < came.size(); ++i) {
    received.descriptors[i] = Fd(came[i]);
  }
  return Receive::Message;
}

bool send_next(int wire, const std::string& request, int lock) {
  Packet packet(const_cast<char*>(request.data()), request.size());
  packet.attach(lock, -1);
  return request.size() <= kLongestOnWire && packet.send(wire, MSG_DONTWAIT);
}

bool receive_next(int wire, char* bytes, int& lock) {
  Packet packet(bytes, kLongestOnWire);
  const ssize_t size = packet.receive(wire, 0);
  lock = packet.descriptors()[0];
  return size > 0 &&
         request_size({bytes, static_cast<std::size_t>(size)}) == static_cast<std::size_t>(size);
}

}  // namespace berth
