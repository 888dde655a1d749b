// Events: who listens gets everything once, who comes back gets what was missed.
#include "daemon/events.h"

#include <gtest/gtest.h>

#include <map>

#include "daemon/recording_replies.h"

namespace berth {
namespace {

constexpr std::uint64_t kFirst = 1000;
constexpr uid_t kUser = 7;

class Events : public ::testing::Test {
 protected:
  std::shared_ptr<Received> listen(const std::string& last = "", std::size_t most = 1'000'000,
                                   std::size_t room = 1'000'000, EventHub::Listener listener = {}) {
    auto received = std::make_shared<Received>();
    received->most = most;
    received->room = room;
    hub_.listen(std::make_unique<RecordingResponder>(received), last, listener);
    return received;
  }
  void change(std::uint64_t job, const std::string& state) {
    states_[JobId{job}] = state;
    hub_.job_changed(JobId{job});
  }
  void change_now(std::uint64_t job, const std::string& state) {
    change(job, state);
    hub_.flush();
  }

  std::map<JobId, std::string> states_;
  std::string hidden_;
  int described_ = 0;
  EventHub hub_{kFirst, [this](JobId job) {
                  ++described_;
                  return EventHub::Described{states_[job], hidden_, kUser};
                }};
};

TEST_F(Events, ANewClientIsGreetedWithTheNumberToResumeFrom) {
  EXPECT_EQ(listen()->events, (std::vector<SentEvent>{{kFirst - 1, "hello", "{}"}}));
  change_now(1, "a");
  EXPECT_EQ(listen()->events, (std::vector<SentEvent>{{kFirst, "hello", "{}"}}));
}

TEST_F(Events, NothingIsToldBeforeTheTurnIsOver) {
  const auto client = listen();
  change(1, "a");
  hub_.announce("daemon", "{}");
  EXPECT_EQ(client->names(), "hello");
  hub_.flush();
  EXPECT_EQ(client->names(), "hello daemon job");
  hub_.flush();
  EXPECT_EQ(client->names(), "hello daemon job");
}

TEST_F(Events, ChangesOfAJobInOneTurnAreOneEventWithItsNewestState) {
  const auto client = listen();
  change(1, "queued");
  change(1, "running");
  change_now(2, "held");
  EXPECT_EQ(client->events, (std::vector<SentEvent>{{kFirst - 1, "hello", "{}"},
                                                    {kFirst, "job", "running"},
                                                    {kFirst + 1, "job", "held"}}));
}

TEST_F(Events, AJobIsReadOnceForAllWhoListen) {
  const auto first = listen();
  const auto second = listen();
  change_now(1, "a");
  EXPECT_EQ(described_, 1);
  EXPECT_EQ(first->events, second->events);
}

TEST_F(Events, WithoutListenersNothingIsRead) {
  change_now(1, "a");
  EXPECT_EQ(described_, 0);
}

TEST_F(Events, AJobThatIsGoneIsNotTold) {
  const auto client = listen();
  change_now(1, "");
  EXPECT_EQ(client->names(), "hello");
  EXPECT_EQ(listen(std::to_string(kFirst - 1))->names(), "hello");
}

TEST_F(Events, WhoComesBackGetsWhatWasMissedAndThenTheRest) {
  change_now(1, "a");
  hub_.jobs_submitted(JobId{2}, 3);
  hub_.flush();
  const auto client = listen(std::to_string(kFirst));
  EXPECT_EQ(client->events,
            (std::vector<SentEvent>{{kFirst + 1, "submitted", R"({"first":2,"count":3})"}}));
  change_now(2, "b");
  EXPECT_EQ(client->names(), "submitted job");
}

TEST_F(Events, WhoMissedMoreThanTheStreamHoldsReadsAnew) {
  change_now(1, std::string(500, 'a'));
  change_now(2, std::string(500, 'b'));
  const std::string before = std::to_string(kFirst - 1);
  EXPECT_EQ(listen(before, 1'000'000, 2000)->names(), "job job");
  EXPECT_EQ(listen(before, 1'000'000, 1000)->names(), "reset");
}

TEST_F(Events, OthersAreToldWhatOthersMaySee) {
  hidden_ = "hidden";
  const auto owner = listen("", 100, 1000, {0, true});
  const auto user = listen("", 100, 1000, {kUser, false});
  const auto other = listen("", 100, 1000, {kUser + 1, false});
  change_now(1, "secret");
  EXPECT_EQ(owner->events.back().data, "secret");
  EXPECT_EQ(user->events.back().data, "secret");
  EXPECT_EQ(other->events.back().data, "hidden");
  EXPECT_EQ(described_, 1);
  const std::string before = std::to_string(kFirst - 1);
  EXPECT_EQ(listen(before, 100, 1000, {kUser + 1, false})->events.back().data, "hidden");
  EXPECT_EQ(listen(before, 100, 1000, {kUser, false})->events.back().data, "secret");
}

TEST_F(Events, AMissedJobIsToldOnceUnderItsNewestNumber) {
  change_now(1, "queued");
  hub_.announce("daemon", "{}");
  hub_.flush();
  change_now(2, "b");
  change_now(1, "running");
  const auto client = listen(std::to_string(kFirst - 1));
  EXPECT_EQ(client->events, (std::vector<SentEvent>{{kFirst + 1, "daemon", "{}"},
                                                    {kFirst + 2, "job", "b"},
                                                    {kFirst + 3, "job", "running"}}));
  // So it is not told again to one who goes right after.
  EXPECT_EQ(listen(std::to_string(client->events.back().id))->names(), "hello");
}

TEST_F(Events, WhatIsPassingCarriesTheNumberOfWhatHasBeenSent) {
  const auto client = listen();
  hub_.announce("daemon", "{}");  // in this turn, not sent yet
  hub_.tell_listeners("devices", "{}");
  ASSERT_EQ(client->events.back(), (SentEvent{kFirst - 1, "devices", "{}"}));
  // The connection breaks here; coming back with that number must not lose the announcement.
  EXPECT_EQ(listen(std::to_string(client->events.back().id))->names(), "daemon");
  EXPECT_EQ(client->names(), "hello devices daemon");
}

TEST_F(Events, WhatIsPassingIsNotRepeated) {
  const auto client = listen();
  hub_.tell_listeners("devices", "{}");
  EXPECT_EQ(client->names(), "hello devices");
  EXPECT_EQ(listen(std::to_string(kFirst - 1))->names(), "hello");
}

struct ResumeCase {
  const char* name;
  std::string last;
  const char* gets;
};

class Resuming : public Events, public ::testing::WithParamInterface<ResumeCase> {};

TEST_P(Resuming, FromThatNumber) {
  for (std::uint64_t job = 1; job <= 3; ++job) {
    change_now(job, "x");  // numbers kFirst … kFirst + 2
  }
  EXPECT_EQ(listen(GetParam().last)->names(), GetParam().gets);
}

INSTANTIATE_TEST_SUITE_P(
    Daemon, Resuming,
    ::testing::Values(ResumeCase{"new", "", "hello"},
                      ResumeCase{"newest", std::to_string(kFirst + 2), "hello"},
                      ResumeCase{"one_missed", std::to_string(kFirst + 1), "job"},
                      ResumeCase{"all_missed", std::to_string(kFirst - 1), "job job job"},
                      ResumeCase{"of_a_process_before", std::to_string(kFirst - 2), "reset"},
                      ResumeCase{"zero", "0", "reset"},
                      ResumeCase{"of_the_future", std::to_string(kFirst + 3), "reset"},
                      ResumeCase{"largest", "18446744073709551615", "reset"},
                      ResumeCase{"too_large", "18446744073709551616", "reset"},
                      ResumeCase{"negative", "-1", "reset"}, ResumeCase{"text", "abc", "reset"},
                      ResumeCase{"trailing", "1001x", "reset"}, ResumeCase{"space", " ", "reset"}),
    [](const auto& row) { return row.param.name; });

TEST_F(Events, TooMuchToRepeatIsAReset) {
  for (int i = 0; i < 2000; ++i) {
    hub_.announce("daemon", "{}");
  }
  hub_.flush();
  EXPECT_EQ(listen(std::to_string(kFirst - 1))->events.size(), 2000u);
  hub_.announce("daemon", "{}");
  hub_.flush();
  EXPECT_EQ(listen(std::to_string(kFirst - 1))->names(), "reset");
  EXPECT_EQ(listen(std::to_string(kFirst))->events.size(), 2000u);
}

TEST_F(Events, TooMuchInOneTurnIsAResetForThoseWhoListen) {
  const auto client = listen();
  for (std::uint64_t job = 1; job <= 100'000; ++job) {  // more than is kept, too
    change(job, "x");
  }
  hub_.flush();
  EXPECT_EQ(client->events.back(), (SentEvent{kFirst + 99'999, "reset", "{}"}));
  EXPECT_EQ(client->names(), "hello reset");
  EXPECT_EQ(described_, 0);
  change_now(1, "y");
  EXPECT_EQ(client->names(), "hello reset job");
}

TEST_F(Events, OneWhoIsCutOffIsForgottenAndHurtsNobody) {
  const auto slow = listen("", 2);
  const auto other = listen();
  for (std::uint64_t job = 1; job <= 3; ++job) {
    change_now(job, "x");
  }
  EXPECT_EQ(slow->names(), "hello job");
  EXPECT_EQ(other->names(), "hello job job job");
  EXPECT_EQ(hub_.listeners(), 1u);
  EXPECT_EQ(listen(std::to_string(slow->events.back().id))->names(), "job job");
}

TEST_F(Events, OneWhoIsGoneAtOnceIsNotKept) {
  listen("", 0);
  EXPECT_FALSE(hub_.has_listeners());
}

}  // namespace
}  // namespace berth
