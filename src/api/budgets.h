// Budgets: how much of the server each user has, and whether a user may have more. Without budgets
// one user, or a client that is no user, could take all connections or all memory, and no other
// client would be served. Pure: it counts and judges; the server acts.
//
// Users are known by their number. The privileged users (the daemon's owner and root) share
// everything. All other users together have less than that, so that the privileged always get in.
// One of the others has less than all of them together. A client that has not shown a token over
// TCP yet is a stranger, and all strangers together count as one small user.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

/// What the budgets count.
enum class Good : std::uint8_t {
  Connections,
  Streams,       // of events
  RequestBytes,  // received and not answered
  AnswerBytes,   // of answers that are not read
};
inline constexpr std::size_t kGoods = 4;
/// Its name for users: "connections".
std::string_view good_name(Good good);

class Budgets {
 public:
  static constexpr uid_t kStrangers = static_cast<uid_t>(-1);

  /// Each limit is at most the one before.
  struct Limit {
    std::size_t all;
    std::size_t others;  // all users but the privileged, together
    std::size_t user;    // one of those users
    std::size_t strangers;
  };
  struct Limits {
    static constexpr std::size_t kMiB = std::size_t{1} << 20;
    std::array<Limit, kGoods> of = {
        Limit{2000, 1500, 256, 64},
        Limit{512, 384, 64, 0},
        Limit{128 * kMiB, 80 * kMiB, 64 * kMiB, 4 * kMiB},
        Limit{96 * kMiB, 48 * kMiB, 24 * kMiB, 16 * kMiB},
    };
    Limit& operator[](Good good) { return of[static_cast<std::size_t>(good)]; }
    const Limit& operator[](Good good) const { return of[static_cast<std::size_t>(good)]; }
    /// The same limits with at most `most` connections, for a system without descriptors for more.
    Limits with_connections(std::size_t most) const;
  };

  Budgets(const Limits& limits, std::vector<uid_t> privileged)
      : limits_(limits), privileged_(std::move(privileged)) {}

  bool privileged(uid_t who) const;
  /// The most that `who` may have.
  std::size_t limit(uid_t who, Good good) const;
  /// Whether `who` may have `more` in addition to what this user and all users have now.
  bool has_room(uid_t who, Good good, std::size_t more = 1) const;
  /// Whether `who` has used up its own limit.
  bool is_full(uid_t who, Good good) const { return used(who, good) >= limit(who, good); }

  std::size_t used(uid_t who, Good good) const;
  std::size_t used_by_all(Good good) const { return all_[static_cast<std::size_t>(good)]; }
  std::size_t used_by_others(Good good) const { return others_[static_cast<std::size_t>(good)]; }
  /// The users that have anything now, in order.
  std::vector<uid_t> users() const;

  /// Why `who` cannot have more, and what helps.
  std::string explain(uid_t who, Good good) const;

  /// How many bytes may wait unread in one event stream of `who`, so that all streams fit into the
  /// budget: a few may hold much, many hold little each.
  std::size_t stream_share(uid_t who) const;

  /// What one connection has of the budgets. All changes go through here, so that everything taken
  /// is given back, to the same user.
  class Account {
   public:
    Account(Budgets& budgets, uid_t who) : budgets_(budgets), who_(who) {}
    ~Account() { close(); }
    Account(const Account&) = delete;
    Account& operator=(const Account&) = delete;

    uid_t who() const { return who_; }
    std::size_t has(Good good) const { return held_[static_cast<std::size_t>(good)]; }
    /// Whether the connection may have `amount` in all.
    bool fits(Good good, std::size_t amount) const;
    /// The connection has `amount` from now on, even if that does not fit.
    void set(Good good, std::size_t amount);
    /// Everything that the connection has belongs to another user from now on.
    void move_to(uid_t who);
    void close();
    std::size_t stream_share() const { return budgets_.stream_share(who_); }
    std::size_t limit(Good good) const { return budgets_.limit(who_, good); }

   private:
    Budgets& budgets_;
    uid_t who_;
    std::array<std::size_t, kGoods> held_{};
  };

 private:
  using Amounts = std::array<std::size_t, kGoods>;

  void change(uid_t who, Good good, std::size_t from, std::size_t to);

  const Limits limits_;
  const std::vector<uid_t> privileged_;
  std::map<uid_t, Amounts> users_;  // only users that have anything
  Amounts others_{};
  Amounts all_{};
};

}  // namespace berth
