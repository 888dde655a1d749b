#include "cluster/munge_key.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/read_file.h"
#include "base/secret.h"
#include "cluster/conf_files.h"

namespace berth {
namespace {

constexpr std::size_t kLongest = 1024;
const FileOwner kKeyOwner{0400, "munge"};

Result<std::string> random_key() {
  Result<std::string> digits = random_hex(128);
  return digits ? from_hex(*digits) : std::move(digits);
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

std::string MungeKeyFacts::fault() const {
  if (!there) {
    return "there is no key";
  }
  if (owner != "munge") {
    return fmt::format("it belongs to {}, not to munge", owner);
  }
  if ((mode & 077) != 0) {
    return fmt::format("its mode is {:04o}, so others than munge can read it", mode);
  }
  return bytes < 32 ? fmt::format("it has {} bytes, and munge wants 32 or more", bytes) : "";
}

MungeKeyFacts look_at_munge_key(const Places& places) {
  MungeKeyFacts facts;
  struct stat info {};
  if (::stat(places.munge_key().c_str(), &info) != 0) {
    facts.there = errno == EACCES;  // for root alone to see
    return facts;
  }
  facts.there = true;
  facts.readable = ::access(places.munge_key().c_str(), R_OK) == 0;
  facts.mode = info.st_mode & 07777;
  const passwd* user = ::getpwuid(info.st_uid);
  facts.owner = user != nullptr ? user->pw_name : fmt::format("user {}", info.st_uid);
  facts.bytes = static_cast<std::size_t>(info.st_size);
  return facts;
}

Result<std::string> read_munge_key(const Places& places) {
  return read_file(places.munge_key(), kLongest);
}

Result<void> replace_munge_key(const Places& places, std::string_view key) {
  const Result<std::string> written = write_conf_file(places.munge_key(), key, kKeyOwner);
  return written ? Result<void>() : Failure(written.error());
}

Result<void> ensure_munge_key(const Places& places) {
  Result<std::string> key = read_munge_key(places);
  if (!key && key.error().code == ErrorCode::NotFound) {
    key = random_key();
  }
  if (!key) {
    return Failure(key.error());
  }
  return replace_munge_key(places, *key);
}

Result<void> renew_munge_key(const Places& places) {
  const Result<std::string> key = random_key();
  if (!key) {
    return Failure(key.error());
  }
  // No copy is kept: the point is that this box forgets the cluster's key.
  (void)::unlink(places.munge_key().c_str());
  return replace_munge_key(places, *key);
}

std::string to_hex(std::string_view bytes) {
  std::string digits;
  for (const char c : bytes) {
    digits += fmt::format("{:02x}", static_cast<unsigned char>(c));
  }
  return digits;
}

Result<std::string> from_hex(std::string_view digits) {
  std::string bytes;
  for (; digits.size() >= 2; digits.remove_prefix(2)) {
    const int high = hex_digit(digits[0]);
    const int low = hex_digit(digits[1]);
    if (high < 0 || low < 0) {
      return fail(ErrorCode::Usage, "not hexadecimal digits");
    }
    bytes += static_cast<char>(high * 16 + low);
  }
  return digits.empty() ? Result<std::string>(bytes)
                        : fail(ErrorCode::Usage, "an odd number of hexadecimal digits");
}

}  // namespace berth
