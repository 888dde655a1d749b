#include "daemon/sessions.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"

namespace berth {
namespace {

/// Of one user, at a time; more push out the oldest.
constexpr std::ptrdiff_t kMostCodes = 16;
constexpr std::ptrdiff_t kMostSessions = 64;
constexpr Duration kDay = std::chrono::hours(24);

/// Makes room for one more of this user's.
template <class T>
void make_room(std::vector<T>& items, uid_t user, std::ptrdiff_t most) {
  const auto is_of_user = [&](const T& item) { return item.user == user; };
  if (std::count_if(items.begin(), items.end(), is_of_user) >= most) {
    items.erase(std::find_if(items.begin(), items.end(), is_of_user));
  }
}

std::string_view take_word(std::string_view& line, char end) {
  const std::size_t size = std::min(line.find(end), line.size());
  const std::string_view word = line.substr(0, size);
  line.remove_prefix(std::min(size + 1, line.size()));
  return word;
}

}  // namespace

Sessions::Sessions(std::string_view text) {
  constexpr std::int64_t kLastSecond = kNever.time_since_epoch() / std::chrono::seconds(1);
  while (!text.empty()) {
    std::string_view line = take_word(text, '\n');
    const std::string_view token = take_word(line, ' ');
    const Result<std::int64_t> user = parse_integer(take_word(line, ' '), "a user");
    const Result<std::int64_t> used = parse_integer(line, "a time");
    if (token.size() >= 32 && user && *user >= 0 && *user < std::int64_t{kNobody} && used &&
        *used >= 0 && *used < kLastSecond) {
      add(std::string(token), static_cast<uid_t>(*user), Time(std::chrono::seconds(*used)));
    }
  }
}

std::string Sessions::text() const {
  std::string text;
  for (const Session& session : sessions_) {
    text += fmt::format("{} {} {}\n", session.token, session.user,
                        session.used.time_since_epoch() / std::chrono::seconds(1));
  }
  return text;
}

void Sessions::add_code(std::string code, uid_t user, Time now) {
  std::erase_if(codes_, [&](const Code& old) { return old.expires <= now; });
  make_room(codes_, user, kMostCodes);
  codes_.push_back({std::move(code), user, now + kCodeLife});
}

std::optional<uid_t> Sessions::begin(std::string_view code, std::string token, Time now,
                                     uid_t process) {
  std::erase_if(codes_, [&](const Code& old) { return old.expires <= now; });
  // All are compared, so that the time it takes tells nothing.
  auto found = codes_.end();
  for (auto each = codes_.begin(); each != codes_.end(); ++each) {
    found = equal_in_constant_time(code, each->text) ? each : found;
  }
  if (found == codes_.end() || (process != kNobody && process != 0 && process != found->user)) {
    return std::nullopt;
  }
  const uid_t user = found->user;
  codes_.erase(found);
  std::erase_if(sessions_, [&](const Session& old) { return old.used + kUnused <= now; });
  add(std::move(token), user, now);
  changed_ = true;
  return user;
}

void Sessions::add(std::string token, uid_t user, Time used) {
  make_room(sessions_, user, kMostSessions);
  sessions_.push_back({++last_number_, std::move(token), user, used});
}

std::optional<Peer> Sessions::find(std::string_view token, Time now) {
  auto found = sessions_.end();
  for (auto each = sessions_.begin(); each != sessions_.end(); ++each) {
    found = equal_in_constant_time(token, each->token) ? each : found;
  }
  if (found == sessions_.end() || found->used + kUnused <= now) {
    return std::nullopt;
  }
  const Peer peer{false, found->user, found->number};
  if (now - found->used >= kDay) {
    found->used = now;
    std::rotate(found, found + 1, sessions_.end());
    changed_ = true;
  }
  return peer;
}

void Sessions::end(std::uint64_t number) {
  changed_ |= std::erase_if(sessions_,
                            [&](const Session& session) { return session.number == number; }) > 0;
}

void Sessions::end_all() {
  changed_ |= !sessions_.empty();
  sessions_.clear();
  codes_.clear();
}

}  // namespace berth
