#include "daemon/secrets.h"

#include <algorithm>
#include <array>

namespace berth {
namespace {

constexpr std::array<std::string_view, 10> kParts = {
    "KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH", "COOKIE", "PRIVATE", "CERT", "_PWD"};

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return result;
}

bool names_secret(std::string_view name) {
  const std::string upper_name = upper(name);
  return std::any_of(kParts.begin(), kParts.end(), [&](std::string_view part) {
    return upper_name.find(part) != std::string::npos;
  });
}

/// `scheme://user:password@host`; over HTTP a user alone may be a token, too.
bool holds_login(std::string_view value) {
  for (std::size_t at = value.find("://"); at != value.npos; at = value.find("://", at + 1)) {
    const std::string_view rest = value.substr(at + 3);
    const std::string_view host = rest.substr(0, rest.find_first_of("/?# \t\n\"',"));
    const std::size_t login = host.rfind('@');
    if (login == host.npos) {
      continue;
    }
    const std::string scheme = upper(value.substr(0, at));
    if (host.substr(0, login).find(':') != host.npos || scheme.ends_with("HTTP") ||
        scheme.ends_with("HTTPS")) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string mask_secret(const std::string& variable) {
  const std::size_t equals = variable.find('=');
  if (equals == variable.npos || equals + 1 == variable.size()) {
    return variable;  // nothing to hide
  }
  const std::string_view text = variable;
  return names_secret(text.substr(0, equals)) || holds_login(text.substr(equals + 1))
             ? std::string(text.substr(0, equals + 1)).append(kMasked)
             : variable;
}

std::vector<std::string> mask_secrets(const std::vector<std::string>& environment) {
  std::vector<std::string> masked;
  masked.reserve(environment.size());
  std::transform(environment.begin(), environment.end(), std::back_inserter(masked), mask_secret);
  return masked;
}

}  // namespace berth
