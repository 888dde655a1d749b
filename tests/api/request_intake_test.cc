// Bytes in, requests out: in any pieces, with whose they are.
#include "api/request_intake.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace berth {
namespace {

constexpr uid_t kAda = 1001;
constexpr int kNoSocket = -1;
using Step = RequestIntake::Step;

class FakeHost : public ConnectionHost {
 public:
  void handle(HttpRequest, std::unique_ptr<Responder>) override {}
  void closed(HttpConnection&) override {}
  Budgets& budgets() override { return budgets_; }
  bool make_room(uid_t) override { return has_room; }
  void refused(uid_t, std::string_view what) override { told.emplace_back(what); }
  std::string used_up(uid_t, Good good) override { return std::string(good_name(good)); }

  bool has_room = true;
  std::vector<std::string> told;

 private:
  Budgets budgets_{{}, {0}};
};

std::shared_ptr<const TcpAccess> access_for_ada() {
  auto access = std::make_shared<TcpAccess>();
  access->token = "secret";
  access->user = kAda;
  access->open = {"POST /login", "GET /"};
  access->hosts = {"here:80"};
  return access;
}

/// By a Unix socket, where the kernel says who asks.
class UnixIntakeTest : public ::testing::Test {
 protected:
  /// Takes all that can be, as "METHOD path body".
  std::vector<std::string> take_all() {
    std::vector<std::string> out;
    for (;;) {
      const Step step = intake_.next();
      if (step == Step::Request) {
        const std::optional<RequestIntake::Taken> taken = intake_.take();
        out.push_back(taken ? taken->request.method + " " + taken->request.path + " " +
                                  taken->request.body
                            : "bad target");
      } else if (step != Step::Head) {
        return out;
      }
    }
  }

  FakeHost host_;
  HttpServer::Limits limits_;
  Budgets::Account account_{host_.budgets(), kAda};
  RequestIntake intake_{host_,  account_, limits_, kNoSocket, Peer{.local = true, .uid = kAda},
                        nullptr};
};

TEST_F(UnixIntakeTest, TakesRequestsInPiecesOfAnySize) {
  const std::string text =
      "POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nxyz"
      "GET /b?c=d HTTP/1.1\r\n\r\n"
      "POST /e HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n";
  for (const std::size_t size : {std::size_t{1}, std::size_t{7}, std::size_t{40}, text.size()}) {
    std::vector<std::string> got;
    for (std::size_t at = 0; at < text.size(); at += size) {
      intake_.add(std::string_view(text).substr(at, size));
      std::ranges::move(take_all(), std::back_inserter(got));
      intake_.trim(false);
    }
    EXPECT_EQ(got, (std::vector<std::string>{"POST /a xyz", "GET /b ", "POST /e hi"})) << size;
    EXPECT_TRUE(intake_.is_idle());
    EXPECT_EQ(intake_.bytes(), 0U);
  }
}

TEST_F(UnixIntakeTest, KnowsWhoAsksAndWhetherMoreWillCome) {
  intake_.add("GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nConnection: close\r\n\r\n");
  for (const bool keep_alive : {true, false}) {
    EXPECT_EQ(intake_.next(), Step::Head);
    EXPECT_EQ(intake_.next(), Step::Request);
    const std::optional<RequestIntake::Taken> taken = intake_.take();
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->request.peer.uid, kAda);
    EXPECT_TRUE(taken->request.peer.local);
    EXPECT_EQ(taken->keep_alive, keep_alive);
  }
}

TEST_F(UnixIntakeTest, CountsWhatItHolds) {
  intake_.add("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\n12345");
  EXPECT_FALSE(intake_.started());
  EXPECT_TRUE(intake_.has_more());
  EXPECT_TRUE(take_all().empty());
  EXPECT_TRUE(intake_.started());
  EXPECT_FALSE(intake_.has_more());
  intake_.trim(false);
  EXPECT_EQ(intake_.bytes(), 5U);  // of the body
  intake_.drop();
  EXPECT_EQ(intake_.bytes(), 0U);
  EXPECT_TRUE(intake_.is_idle());
}

TEST_F(UnixIntakeTest, TrimsWhatIsReadOrAll) {
  const std::string next = "GET /next";
  intake_.add("GET / HTTP/1.1\r\n\r\n" + next);
  EXPECT_EQ(intake_.next(), Step::Head);
  intake_.trim(false);
  EXPECT_EQ(intake_.bytes(), next.size());
  EXPECT_TRUE(intake_.has_more());
  intake_.trim(true);
  EXPECT_EQ(intake_.bytes(), 0U);
  EXPECT_TRUE(intake_.started());  // the request whose head has been read
}

TEST_F(UnixIntakeTest, SeesAClientThatWaitsForAWord) {
  const std::string head = "POST / HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n";
  intake_.add(head);
  EXPECT_EQ(intake_.next(), Step::Head);
  EXPECT_TRUE(intake_.awaits_continue());
  intake_.drop();
  intake_.add(head + "hi");
  EXPECT_EQ(intake_.next(), Step::Head);
  EXPECT_FALSE(intake_.awaits_continue());  // it did not wait
}

TEST_F(UnixIntakeTest, RefusesWhatIsNoRequest) {
  intake_.add("hello\r\n\r\n");
  EXPECT_EQ(intake_.next(), Step::Refused);
  EXPECT_EQ(intake_.refusal().status, 400);
  EXPECT_FALSE(intake_.asks_for_head());
}

TEST_F(UnixIntakeTest, ATargetMustBeAPath) {
  intake_.add("HEAD nowhere HTTP/1.1\r\n\r\n");
  EXPECT_EQ(intake_.next(), Step::Head);
  EXPECT_EQ(intake_.next(), Step::Request);
  EXPECT_FALSE(intake_.take().has_value());
  EXPECT_TRUE(intake_.asks_for_head());
}

/// Over TCP, where a token says who asks.
class TcpIntakeTest : public ::testing::Test {
 protected:
  Step read(std::string_view start, std::string_view headers, std::string_view body = "") {
    intake_.add(start);
    intake_.add(" HTTP/1.1\r\nHost: here:80\r\n");
    intake_.add(headers);
    intake_.add("\r\n");
    intake_.add(body);
    return intake_.next();
  }

  FakeHost host_;
  HttpServer::Limits limits_;
  Budgets::Account account_{host_.budgets(), Budgets::kStrangers};
  RequestIntake intake_{host_, account_, limits_, kNoSocket, Peer{}, access_for_ada()};
};

TEST_F(TcpIntakeTest, ATokenMakesTheConnectionItsUsers) {
  EXPECT_EQ(read("GET /x", "Authorization: Bearer secret\r\n"), Step::Head);
  EXPECT_EQ(account_.who(), kAda);
  EXPECT_EQ(intake_.next(), Step::Request);
  EXPECT_EQ(intake_.take()->request.peer.uid, kAda);
}

TEST_F(TcpIntakeTest, AWrongTokenIsRefusedAndTold) {
  EXPECT_EQ(read("GET /x", "Authorization: Bearer guess\r\n"), Step::Refused);
  EXPECT_EQ(intake_.refusal().status, 401);
  EXPECT_EQ(account_.who(), Budgets::kStrangers);
  EXPECT_EQ(host_.told.size(), 1U);
}

TEST_F(TcpIntakeTest, AUserWithTooManyConnectionsIsRefused) {
  host_.has_room = false;
  EXPECT_EQ(read("GET /x", "Authorization: Bearer secret\r\n"), Step::Refused);
  EXPECT_EQ(intake_.refusal().status, 503);
  EXPECT_EQ(intake_.refusal().message, good_name(Good::Connections));
  EXPECT_EQ(account_.who(), Budgets::kStrangers);
}

TEST_F(TcpIntakeTest, WithoutATokenLittleCanBeSent) {
  const std::string body(kOpenBodyBytes + 1, 'x');
  const std::string length = "Content-Length: " + std::to_string(body.size()) + "\r\n";
  EXPECT_EQ(read("POST /login", length, body), Step::Head);
  EXPECT_EQ(intake_.next(), Step::Refused);
  EXPECT_EQ(intake_.refusal().status, 413);
}

TEST_F(TcpIntakeTest, AUserWhoLeavesTheTokenOutIsNobodyForThatRequest) {
  EXPECT_EQ(read("GET /x", "Authorization: Bearer secret\r\n"), Step::Head);
  EXPECT_EQ(intake_.next(), Step::Request);
  (void)intake_.take();
  EXPECT_EQ(read("GET /", ""), Step::Head);
  EXPECT_EQ(intake_.next(), Step::Request);
  EXPECT_EQ(intake_.take()->request.peer.uid, kNobody);
  EXPECT_EQ(account_.who(), kAda);
}

}  // namespace
}  // namespace berth
