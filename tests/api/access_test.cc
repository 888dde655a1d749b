// Who gets in over TCP, with every method.
#include "api/access.h"

#include "fixture.h"

namespace berth {
namespace {

constexpr const char* kToken = "s3cret-token";
constexpr uid_t kUser = 1234;
constexpr const char* kMethods[] = {"GET",   "HEAD",  "POST",    "PUT",  "DELETE",
                                    "PATCH", "TRACE", "OPTIONS", "BREW", "events"};

TcpAccess access_with_token() {
  TcpAccess access;
  access.token = kToken;
  access.user = kUser;
  return access;
}

/// PORT stands for the server's port.
struct AccessCase {
  const char* name;
  const char* headers;
  int status;
};

class Access : public ::testing::TestWithParam<AccessCase> {};

TEST_P(Access, IsTheSameForEveryMethod) {
  TestServer server([](const HttpRequest& request, std::unique_ptr<Responder> responder) {
    EXPECT_FALSE(request.peer.local);
    EXPECT_EQ(request.peer.uid, kUser);
    if (request.path == "/v1/events") {
      (void)responder->stream();  // ends at once
    } else {
      responder->respond({});
    }
  });
  const int port = server.listen_tcp(access_with_token());
  server.start();
  std::string headers = GetParam().headers;
  for (std::size_t at = 0; (at = headers.find("PORT")) != std::string::npos;) {
    headers.replace(at, 4, std::to_string(port));
  }
  for (const char* method : kMethods) {
    const bool is_stream = std::string_view(method) == "events";
    RawClient client = RawClient::to_port(port);
    client.write(std::string(is_stream ? "GET /v1/events" : std::string(method) + " /v1/jobs") +
                 " HTTP/1.1\r\n" + headers + "Connection: close\r\n\r\n");
    const std::string& answer = client.read_to_end();
    EXPECT_EQ(answer.substr(9, 3), std::to_string(GetParam().status)) << method;
    EXPECT_EQ(answer.find("Access-Control"), std::string::npos) << method;
    EXPECT_EQ(answer.find("WWW-Authenticate: Bearer") != std::string::npos,
              GetParam().status == 401)
        << method;
  }
}

#define TOKEN "Authorization: Bearer s3cret-token\r\n"

INSTANTIATE_TEST_SUITE_P(
    Api, Access,
    ::testing::Values(
        AccessCase{"bound_address", "Host: 127.0.0.1:PORT\r\n" TOKEN, 200},
        AccessCase{"localhost", "Host: localhost:PORT\r\n" TOKEN, 200},
        AccessCase{"localhost_in_capitals", "Host: LOCALHOST:PORT\r\n" TOKEN, 200},
        AccessCase{"loopback_6", "Host: [::1]:PORT\r\n" TOKEN, 200},
        AccessCase{"scheme_in_small_letters",
                   "Host: localhost:PORT\r\nAuthorization: bearer s3cret-token\r\n", 200},
        AccessCase{"own_origin", "Host: localhost:PORT\r\nOrigin: http://localhost:PORT\r\n" TOKEN,
                   200},
        AccessCase{"no_host", TOKEN, 403}, AccessCase{"empty_host", "Host:\r\n" TOKEN, 403},
        AccessCase{"rebound_name", "Host: evil.example:PORT\r\n" TOKEN, 403},
        AccessCase{"rebound_name_with_our_origin",
                   "Host: evil.example:PORT\r\nOrigin: http://evil.example:PORT\r\n" TOKEN, 403},
        AccessCase{"other_port", "Host: localhost:1\r\n" TOKEN, 403},
        AccessCase{"no_port", "Host: localhost\r\n" TOKEN, 403},
        AccessCase{"longer_name", "Host: localhost:PORT.evil.example\r\n" TOKEN, 403},
        AccessCase{"two_hosts", "Host: localhost:PORT\r\nHost: localhost:PORT\r\n" TOKEN, 400},
        AccessCase{"foreign_origin",
                   "Host: localhost:PORT\r\nOrigin: http://evil.example\r\n" TOKEN, 403},
        AccessCase{"foreign_port", "Host: localhost:PORT\r\nOrigin: http://localhost:1\r\n" TOKEN,
                   403},
        AccessCase{"foreign_scheme",
                   "Host: localhost:PORT\r\nOrigin: https://localhost:PORT\r\n" TOKEN, 403},
        AccessCase{"null_origin", "Host: localhost:PORT\r\nOrigin: null\r\n" TOKEN, 403},
        AccessCase{"empty_origin", "Host: localhost:PORT\r\nOrigin:\r\n" TOKEN, 403},
        AccessCase{"two_origins",
                   "Host: localhost:PORT\r\nOrigin: http://localhost:PORT\r\n"
                   "Origin: http://localhost:PORT\r\n" TOKEN,
                   400},
        AccessCase{"no_token", "Host: localhost:PORT\r\n", 401},
        AccessCase{"empty_token", "Host: localhost:PORT\r\nAuthorization: Bearer\r\n", 401},
        AccessCase{"wrong_token", "Host: localhost:PORT\r\nAuthorization: Bearer s3cret-tokem\r\n",
                   401},
        AccessCase{"part_of_the_token", "Host: localhost:PORT\r\nAuthorization: Bearer s3cret\r\n",
                   401},
        AccessCase{"more_than_the_token",
                   "Host: localhost:PORT\r\nAuthorization: Bearer s3cret-tokens3cret-token\r\n",
                   401},
        AccessCase{"other_scheme", "Host: localhost:PORT\r\nAuthorization: Basic s3cret-token\r\n",
                   401},
        AccessCase{"two_tokens", "Host: localhost:PORT\r\nAuthorization: Bearer x\r\n" TOKEN, 400}),
    [](const auto& row) { return row.param.name; });

TEST(AccessRules, IsCheckedBeforeTheBodyIsRead) {
  TestServer server(echo);
  RawClient client = RawClient::to_port(server.listen_tcp(access_with_token()));
  server.start();
  client.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
  EXPECT_EQ(client.reply().status, 403);
}

TEST(AccessRules, ComparesWhole) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abd", "abc"));
  EXPECT_FALSE(equal_in_constant_time("ab", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abcabc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("", "abc"));
  EXPECT_FALSE(equal_in_constant_time("", ""));
}

/// What comes of a request to a server at 127.0.0.1:8750 with a session's token, "of-ann", and two
/// open doors.
struct RuleCase {
  const char* name;
  const char* request;  // method and target
  const char* authorization;
  const char* host;
  const char* origin;  // null: none
  int status;          // 0: let in
  uid_t user;
};

constexpr uid_t kSessionUser = 1000;

std::variant<Peer, Refusal> judge(const RuleCase& rule) {
  TcpAccess access = access_with_token();
  access.open = {"GET /", "POST /v1/session"};
  access.session = [](std::string_view token) {
    return token == "of-ann" ? std::optional(Peer{false, kSessionUser, 5}) : std::nullopt;
  };
  access.hosts = host_names("127.0.0.1", 8750);
  RequestHead head;
  const std::string_view request = rule.request;
  head.method = request.substr(0, request.find(' '));
  head.target = request.substr(request.find(' ') + 1);
  head.authorization = rule.authorization;
  head.host = rule.host;
  head.has_origin = rule.origin != nullptr;
  head.origin = head.has_origin ? rule.origin : "";
  return admit(access, head, "127.0.0.1:8750");
}

class Rules : public ::testing::TestWithParam<RuleCase> {};

TEST_P(Rules, SayWhoAsksOrRefuse) {
  const std::variant<Peer, Refusal> verdict = judge(GetParam());
  if (const auto* refusal = std::get_if<Refusal>(&verdict)) {
    EXPECT_EQ(refusal->status, GetParam().status) << refusal->message;
    return;
  }
  const Peer& peer = std::get<Peer>(verdict);
  EXPECT_EQ(GetParam().status, 0);
  EXPECT_FALSE(peer.local);
  EXPECT_EQ(peer.uid, GetParam().user);
  EXPECT_EQ(peer.session, GetParam().user == kSessionUser ? 5U : 0U);
}

constexpr const char* kHere = "127.0.0.1:8750";
constexpr const char* kOwn = "Bearer s3cret-token";
constexpr const char* kAnns = "Bearer of-ann";

INSTANTIATE_TEST_SUITE_P(
    Api, Rules,
    ::testing::Values(
        RuleCase{"token", "GET /v1/jobs", kOwn, kHere, nullptr, 0, kUser},
        RuleCase{"session", "GET /v1/jobs", kAnns, kHere, nullptr, 0, kSessionUser},
        RuleCase{"session_of_the_page", "POST /v1/jobs", kAnns, kHere, "http://127.0.0.1:8750", 0,
                 kSessionUser},
        RuleCase{"session_elsewhere", "POST /v1/jobs", kAnns, kHere, "http://127.0.0.1:1", 403, 0},
        RuleCase{"session_rebound", "GET /v1/jobs", kAnns, "evil.example:8750", nullptr, 403, 0},
        RuleCase{"no_session", "GET /v1/jobs", "Bearer of-bob", kHere, nullptr, 401, 0},
        RuleCase{"session_as_basic", "GET /v1/jobs", "Basic of-ann", kHere, nullptr, 401, 0},
        RuleCase{"page", "GET /", "", kHere, nullptr, 0, kNobody},
        RuleCase{"page_head", "HEAD /", "", kHere, nullptr, 0, kNobody},
        RuleCase{"page_with_query", "GET /?a=b", "", kHere, nullptr, 0, kNobody},
        RuleCase{"page_in_other_letters", "GET /%2F", "", kHere, nullptr, 401, 0},
        RuleCase{"page_with_token", "GET /", kAnns, kHere, nullptr, 0, kSessionUser},
        RuleCase{"page_with_old_token", "GET /", "Bearer old", kHere, nullptr, 0, kNobody},
        RuleCase{"page_written_to", "POST /", "", kHere, nullptr, 401, 0},
        RuleCase{"page_asked_how", "OPTIONS /", "", kHere, nullptr, 401, 0},
        RuleCase{"page_of_own_origin", "GET /", "", kHere, "http://127.0.0.1:8750", 0, kNobody},
        RuleCase{"page_of_other_origin", "GET /", "", kHere, "http://evil.example", 403, 0},
        RuleCase{"page_of_no_origin", "GET /", "", kHere, "null", 403, 0},
        RuleCase{"page_rebound", "GET /", "", "evil.example:8750", nullptr, 403, 0},
        RuleCase{"sign_in", "POST /v1/session", "", kHere, "http://127.0.0.1:8750", 0, kNobody},
        RuleCase{"sign_in_from_elsewhere", "POST /v1/session", "", kHere, "http://localhost:1", 403,
                 0},
        RuleCase{"sign_in_rebound", "POST /v1/session", "", "evil.example:8750", nullptr, 403, 0},
        RuleCase{"sign_in_read", "GET /v1/session", "", kHere, nullptr, 401, 0},
        RuleCase{"sign_out", "POST /v1/session/end", "", kHere, nullptr, 401, 0},
        RuleCase{"nearly_open", "POST /v1/session/", "", kHere, nullptr, 401, 0},
        RuleCase{"no_path", "GET x", "", kHere, nullptr, 401, 0},
        RuleCase{"star", "GET *", "", kHere, nullptr, 401, 0}),
    [](const auto& row) { return row.param.name; });

TEST(AccessRules, WhoHasShownNothingSendsLittle) {
  TestServer server(echo);
  TcpAccess access = access_with_token();
  access.open = {"POST /v1/session"};
  const int port = server.listen_tcp(access);
  server.start();
  const std::string host = "Host: 127.0.0.1:" + std::to_string(port) + "\r\n";
  const auto ask = [&](const std::string& headers, const std::string& body) {
    RawClient client = RawClient::to_port(port);
    client.write("POST /v1/session HTTP/1.1\r\n" + host + headers + "\r\n" + body);
    return client.reply().status;
  };
  const std::string most(kOpenBodyBytes, 'x');
  const auto length = [](const std::string& body) {
    return "Content-Length: " + std::to_string(body.size()) + "\r\n";
  };
  EXPECT_EQ(ask(length(most), most), 200);
  EXPECT_EQ(ask(length(most + "x"), most + "x"), 413);
  EXPECT_EQ(ask("Transfer-Encoding: chunked\r\n", "1001\r\n" + most + "x\r\n0\r\n\r\n"), 413);
  EXPECT_EQ(ask(std::string(TOKEN) + length(most + "x"), most + "x"), 200);
}

TEST(AccessRules, TheStandardPortMayBeLeftOut) {
  TcpAccess access = access_with_token();
  access.hosts = host_names("127.0.0.1", 80);
  RequestHead head;
  head.host = "localhost";
  head.authorization = kOwn;
  EXPECT_TRUE(std::holds_alternative<Peer>(admit(access, head, "127.0.0.1:80")));
}

TEST(AccessRules, AServerOnAllAddressesAnswersToTheOneThatWasUsed) {
  TcpAccess access = access_with_token();
  access.hosts = host_names("0.0.0.0", 8750);
  RequestHead head;
  head.authorization = kOwn;
  head.host = "192.0.2.7:8750";
  EXPECT_TRUE(std::holds_alternative<Peer>(admit(access, head, "192.0.2.7:8750")));
  EXPECT_TRUE(std::holds_alternative<Refusal>(admit(access, head, "192.0.2.8:8750")));
}

}  // namespace
}  // namespace berth
