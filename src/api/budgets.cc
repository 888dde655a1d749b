#include "api/budgets.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth {
namespace {

/// Room for some hundred changes of jobs, however many listen.
constexpr std::size_t kLeastShare = std::size_t{128} * 1024;

std::size_t index(Good good) { return static_cast<std::size_t>(good); }

}  // namespace

std::string_view good_name(Good good) {
  switch (good) {
    case Good::Connections:
      return "connections";
    case Good::Streams:
      return "event streams";
    case Good::RequestBytes:
      return "bytes of requests";
    case Good::AnswerBytes:
      return "bytes of unread answers";
  }
  return "";
}

Budgets::Limits Budgets::Limits::with_connections(std::size_t most) const {
  Limits fitted = *this;
  Limit& connections = fitted[Good::Connections];
  if (most < connections.all) {
    connections.all = most;
    connections.others = std::min(connections.others, most * 3 / 4);
    connections.user = std::min(connections.user, most / 4);
    connections.strangers = std::min(connections.strangers, most / 8);
  }
  return fitted;
}

bool Budgets::privileged(uid_t who) const {
  return std::find(privileged_.begin(), privileged_.end(), who) != privileged_.end();
}

std::size_t Budgets::limit(uid_t who, Good good) const {
  const Limit& limit = limits_[good];
  return who == kStrangers ? limit.strangers : privileged(who) ? limit.all : limit.user;
}

bool Budgets::has_room(uid_t who, Good good, std::size_t more) const {
  const auto fits = [&](std::size_t used, std::size_t most) {
    return used <= most && more <= most - used;
  };
  return fits(used_by_all(good), limits_[good].all) &&
         (privileged(who) || (fits(used_by_others(good), limits_[good].others) &&
                              fits(used(who, good), limit(who, good))));
}

std::size_t Budgets::used(uid_t who, Good good) const {
  const auto found = users_.find(who);
  return found == users_.end() ? 0 : found->second[index(good)];
}

std::vector<uid_t> Budgets::users() const {
  std::vector<uid_t> found;
  for (const auto& [who, amounts] : users_) {
    found.push_back(who);
  }
  return found;
}

std::size_t Budgets::stream_share(uid_t who) const {
  const Limit& bytes = limits_[Good::AnswerBytes];
  // Half of the bytes: the rest is for other answers.
  const auto share = [](std::size_t budget, std::size_t streams) {
    return budget / 2 / std::max<std::size_t>(1, streams);
  };
  std::size_t least = share(bytes.all, used_by_all(Good::Streams));
  if (!privileged(who)) {
    least = std::min({least, share(bytes.others, used_by_others(Good::Streams)),
                      share(limit(who, Good::AnswerBytes), used(who, Good::Streams))});
  }
  return std::max(kLeastShare, least);
}

std::string Budgets::explain(uid_t who, Good good) const {
  const std::string_view name = good_name(good);
  if (who == kStrangers) {
    return fmt::format("there are too many {} without a token", name);
  }
  // What was asked for may be more than what is left.
  const bool own = privileged(who) || used_by_others(good) < limits_[good].others;
  return own ? fmt::format(
                   "you have used up the {} {} that you may have: end some, or try again "
                   "later",
                   limit(who, good), name)
             : fmt::format("other users have used up the {} {} that there are: try again later",
                           limits_[good].others, name);
}

void Budgets::change(uid_t who, Good good, std::size_t from, std::size_t to) {
  const auto change = [&](Amounts& amounts) { amounts[index(good)] += to - from; };  // may wrap
  const auto user = users_.try_emplace(who).first;
  change(user->second);
  change(all_);
  if (!privileged(who)) {
    change(others_);
  }
  if (user->second == Amounts{}) {
    users_.erase(user);
  }
}

bool Budgets::Account::fits(Good good, std::size_t amount) const {
  return amount <= has(good) || budgets_.has_room(who_, good, amount - has(good));
}

void Budgets::Account::set(Good good, std::size_t amount) {
  if (held_[index(good)] != amount) {
    budgets_.change(who_, good, held_[index(good)], amount);
    held_[index(good)] = amount;
  }
}

void Budgets::Account::move_to(uid_t who) {
  const auto held = held_;
  close();
  who_ = who;
  for (std::size_t i = 0; i < kGoods; ++i) {
    set(static_cast<Good>(i), held[i]);
  }
}

void Budgets::Account::close() {
  for (std::size_t i = 0; i < kGoods; ++i) {
    set(static_cast<Good>(i), 0);
  }
}

}  // namespace berth
