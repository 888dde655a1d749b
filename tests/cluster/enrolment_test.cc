#include "cluster/enrolment.h"

#include <gtest/gtest.h>

#include "cluster/munge_key.h"
#include "cluster/private_munge.h"
#include "cluster/tcp.h"

namespace berth {
namespace {

TEST(Enrolment, ARequestIsReadAsItWasWritten) {
  const JoinRequest request{
      "0123",
      "n2",
      "22.05.8",
      Cgroups::V2,
      {{"/dev/nvidia0", "a100", GpuVendor::Nvidia}, {"/dev/dri/renderD128", "", GpuVendor::Amd}}};
  const Result<JoinRequest> read = parse_join_request(to_text(request));
  ASSERT_TRUE(read);
  EXPECT_EQ(to_text(*read), to_text(request));
  EXPECT_EQ(read->gpus, request.gpus);
  EXPECT_EQ(read->cgroups, Cgroups::V2);
}

TEST(Enrolment, NothingGetsIntoAFileThatDoesNotBelongThere) {
  for (const char* text : {"", "join 2\nname n2\n", "join 1\nname n2 State=UP\n", "join 1\nname \n",
                           "join 1\nname n2\ngpu nvidia /etc/shadow \n",
                           "join 1\nname n2\ngpu nvidia /dev/../etc/x \n",
                           "join 1\nname n2\ngpu nvidia /dev/nvidia0 a100 Count=9\n"}) {
    EXPECT_FALSE(parse_join_request(text)) << text;
  }
}

TEST(Enrolment, AnAnswerIsReadAsItWasWritten) {
  const JoinAnswer answer{"0123", "", "lab", std::string("\0\n\xff key", 7)};
  const Result<JoinAnswer> read = parse_join_answer(to_text(answer));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->key, answer.key);
  EXPECT_EQ(read->nonce, "0123");
  EXPECT_FALSE(parse_join_answer("answer 2\n"));
}

TEST(Enrolment, TokensForgiveHowTheyAreTyped) {
  const Result<std::string> token = make_token();
  ASSERT_TRUE(token);
  EXPECT_EQ(token->size(), 39u);
  EXPECT_NE(*token, *make_token());
  std::string typed = " ";
  for (const char c : *token) {
    typed += c == '-' ? ' ' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  EXPECT_EQ(*key_of_token(typed + "\n"), *key_of_token(*token));
  EXPECT_FALSE(key_of_token("1234"));
  EXPECT_FALSE(key_of_token("zzzz-0000-0000-0000-0000-0000-0000-0000"));
}

TEST(Enrolment, Objections) {
  ClusterState cluster;
  cluster.version = "22.05.8";
  NodeState node;
  node.name = "n2";
  node.states = {"IDLE", "DYNAMIC_NORM"};
  cluster.nodes = {node};
  JoinRequest request{"0", "n3", "22.05.9", Cgroups::V1, {}};
  EXPECT_EQ(join_objection(request, cluster, false), "");
  EXPECT_NE(join_objection(request, cluster, true).find("cgroups v2"), std::string::npos);
  request.version = "23.02.1";
  EXPECT_NE(join_objection(request, cluster, false).find("23.02.1"), std::string::npos);
  request = {"0", "n2", "22.05.8", Cgroups::V2, {}};
  EXPECT_NE(join_objection(request, cluster, false).find("named n2 already"), std::string::npos);
  cluster.nodes[0].states = {"DOWN", "DYNAMIC_NORM", "NOT_RESPONDING"};
  EXPECT_EQ(join_objection(request, cluster, false), "");
}

TEST(PrivateMunge, TakesWhatRootHasMadeAlone) {
  EXPECT_EQ(*read_unmunged("STATUS:          Success (0)\nUID:             root (0)\n\nhello\n"),
            "hello\n");
  EXPECT_FALSE(read_unmunged("STATUS:          Success (0)\nUID:     ann (1000)\n\nhello\n"));
  const Result<std::string> rewound = read_unmunged("STATUS:     Rewound credential (16)\n\n");
  ASSERT_FALSE(rewound);
  EXPECT_EQ(rewound.error().message, "Rewound credential");
  EXPECT_FALSE(read_unmunged(""));
}

TEST(MungeKey, Hexadecimal) {
  EXPECT_EQ(to_hex(std::string("\0\xff", 2)), "00ff");
  EXPECT_EQ(*from_hex("00ff"), std::string("\0\xff", 2));
  EXPECT_FALSE(from_hex("0"));
  EXPECT_FALSE(from_hex("0g"));
}

TEST(MungeKey, Faults) {
  EXPECT_EQ((MungeKeyFacts{true, true, 0400, "munge", 128}.fault()), "");
  EXPECT_NE((MungeKeyFacts{true, true, 0644, "munge", 128}.fault()), "");
  EXPECT_NE((MungeKeyFacts{true, true, 0400, "root", 128}.fault()), "");
  EXPECT_NE((MungeKeyFacts{true, true, 0400, "munge", 3}.fault()), "");
  EXPECT_NE(MungeKeyFacts{}.fault(), "");
}

TEST(Tcp, Hosts) {
  EXPECT_EQ(parse_host("head", 6816)->port, 6816);
  EXPECT_EQ(parse_host("10.0.0.1:7000", 6816)->port, 7000);
  EXPECT_EQ(parse_host("fd00::1", 6816)->host, "fd00::1");
  for (const char* text : {"", ":1", "-Z", "a b", "a;b", "head:x", "head:70000"}) {
    EXPECT_FALSE(parse_host(text, 6816)) << text;
  }
}

}  // namespace
}  // namespace berth
