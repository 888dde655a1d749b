// Who gets in over TCP, with every method.
#include "api/access.h"

#include "fixture.h"

namespace berth {
namespace {

constexpr const char* kToken = "s3cret-token";
constexpr const char* kMethods[] = {"GET",   "HEAD",  "POST",    "PUT",  "DELETE",
                                    "PATCH", "TRACE", "OPTIONS", "BREW", "events"};

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
    EXPECT_EQ(request.peer.uid, static_cast<uid_t>(-1));
    if (request.path == "/v1/events") {
      (void)responder->stream();  // ends at once
    } else {
      responder->respond({});
    }
  });
  const int port = server.listen_tcp(kToken);
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
  RawClient client = RawClient::to_port(server.listen_tcp(kToken));
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

TEST(AccessRules, TheStandardPortMayBeLeftOut) {
  const TcpAccess access{"t", host_names("127.0.0.1", 80)};
  RequestHead head;
  head.host = "localhost";
  head.authorization = "Bearer t";
  EXPECT_FALSE(refuse(access, head, "127.0.0.1:80").has_value());
}

TEST(AccessRules, AServerOnAllAddressesAnswersToTheOneThatWasUsed) {
  const TcpAccess access{"t", host_names("0.0.0.0", 8750)};
  RequestHead head;
  head.authorization = "Bearer t";
  head.host = "192.0.2.7:8750";
  EXPECT_FALSE(refuse(access, head, "192.0.2.7:8750").has_value());
  EXPECT_TRUE(refuse(access, head, "192.0.2.8:8750").has_value());
}

}  // namespace
}  // namespace berth
