// Answers and events as structs: each is read from what the daemon says, and says the same again.
#include "api/messages.h"

#include <gtest/gtest.h>

#include "api/messages/log.h"
#include "api/messages/whatif.h"

namespace berth {
namespace {

/// `json` read and written again, with a field in it that nobody knows.
template <class T>
std::string again(Result<T> (*parse)(std::string_view), std::string json) {
  json.insert(1, R"("of_a_later_version":{"a":[1,null]},)");
  const Result<T> message = parse(json);
  return message ? to_json(*message) : "error: " + message.error().message;
}

/// What is wrong with it, without what all errors begin with.
template <class T>
std::string problem(Result<T> (*parse)(std::string_view), std::string_view json) {
  constexpr std::string_view kBegin = "the daemon's answer makes no sense: ";
  const Result<T> message = parse(json);
  if (message) {
    return "(none)";
  }
  EXPECT_EQ(message.error().code, ErrorCode::Unavailable);
  EXPECT_TRUE(message.error().message.starts_with(kBegin)) << message.error().message;
  return message.error().message.substr(kBegin.size());
}

#define EXPECT_AGAIN(parse, json) EXPECT_EQ(again(parse, json), json)

TEST(Messages, Commands) {
  EXPECT_AGAIN(parse_command_reply, R"({"version":1,"done":3,"refused":1,"reasons":["a \"b\""]})");
  EXPECT_AGAIN(parse_forget_reply, R"({"version":1,"forgotten":1000,"more":true})");
  EXPECT_AGAIN(parse_wait_reply, R"({"version":1,"failed":0})");
  EXPECT_AGAIN(parse_submit_reply, R"({"version":1,"first":7,"count":100})");
}

TEST(Messages, Status) {
  EXPECT_AGAIN(
      parse_status_reply,
      R"({"version":1,"pid":12,"policy":"priority","policy_trouble":"","shadow":"rl","shadow_report":"",)"
      R"("placement":"pack","oom_risk":0.010000,)"
      R"("owners":"project","paused":false,)"
      R"("gpus":4,"listen":"","home":"/home/ann/.berth","uid":1000,"user":"ann","version_text":"0.1.0",)"
      R"("started":1700000000.125,"hostname":"a","clusters":["lab"],"jobs":{"failed":0,"queued":2},)"
      R"("load":{"longest_turn_s":0.001250,"longest_turn":"GET /v1","longest_turn_ended":1700000001.000,)"
      R"("longest_turn_lately_s":0.000000,"slow_turns":0,"memory_bytes":1048576,)"
      R"("users":[{"uid":0,"user":"root","connections":1,"most_connections":2000,"streams":0,"most_streams":512,)"
      R"("request_bytes":0,"most_request_bytes":9,"answer_bytes":0,"most_answer_bytes":9},)"
      R"({"uid":1,"user":"b","connections":1,"most_connections":2,"streams":0,"most_streams":5,)"
      R"("request_bytes":0,"most_request_bytes":9,"answer_bytes":0,"most_answer_bytes":9,)"
      R"("jobs":1,"most_jobs":2,"job_bytes":3,"most_job_bytes":4}],)"
      R"("strangers":{"connections":1,"most_connections":64,"streams":0,"most_streams":0,)"
      R"("request_bytes":0,"most_request_bytes":9,"answer_bytes":0,"most_answer_bytes":9}}})");
}

TEST(Messages, AnOlderDaemonCanStillBeAsked) {
  const Result<StatusReply> status = parse_status_reply(R"({"version":1,"pid":12})");
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->pid, 12);
  EXPECT_TRUE(status->load.users.empty());
}

TEST(Messages, PoliciesAndRoutes) {
  EXPECT_AGAIN(
      parse_policies_reply,
      R"({"version":1,"policies":[{"name":"fifo","about":"in order","live":true}],"placements":["pack"]})");
  EXPECT_AGAIN(parse_index_reply,
               R"({"version":1,"routes":[{"method":"GET","path":"/v1/jobs/{id}"}]})");
}

TEST(Messages, Devices) {
  EXPECT_AGAIN(
      parse_devices_reply,
      R"({"version":1,"devices":[{"name":"0","uuid":"GPU-0","model":"A100","health":"ok","memory_bytes":100,)"
      R"("foreign_bytes":1,"expected_idle_w":60,"expected_busy_w":250.5,"used_bytes":7,"utilization_percent":50,)"
      R"("power_w":60.25,"power_limit_w":300,"energy_j":1000,"temperature_c":40,"claimed_bytes":5,)"
      R"("obstacle":"another berth has it","jobs":[{"id":3,"claim_bytes":5,"share":500,"used_bytes":4}]},)"
      R"({"name":"1","uuid":"","model":"","health":"lost","memory_bytes":0,"foreign_bytes":0,)"
      R"("claimed_bytes":0,"jobs":[]}],"sources":["sim:2","0"]})");
  EXPECT_AGAIN(
      parse_device_history_reply,
      R"({"version":1,"from":1700000000.5,"interval_s":2,"devices":[{"name":"0","utilization_percent":[1.5,null],)"
      R"("used_bytes":[1048576,null],"power_w":[60.0,null],"temperature_c":[null,40.0]}]})");
}

TEST(Messages, ManyJobs) {
  EXPECT_AGAIN(
      parse_facets_reply,
      R"({"version":1,"projects":[{"name":"p","jobs":2}],"users":[{"uid":5,"name":"ann","jobs":2}],)"
      R"("labels":[{"key":"k","value":"v","jobs":1}],"sweeps":[{"name":"s","project":"","jobs":2,"first":1,)"
      R"("last":2,"states":{"failed":1,"queued":1}}]})");
  EXPECT_AGAIN(parse_totals_reply,
               R"({"version":1,"gpu_seconds":1.5,"energy_j":0,"started":2,"ended":{"failed":1}})");
  EXPECT_AGAIN(
      parse_timeline_reply,
      R"({"version":1,"now":1700000000.000,"truncated":false,"spans":[{"job":1,"attempt":1,"name":"a","project":"",)"
      R"("sweep":"","user":5,"gpus":["0","1"],"from":1.500,"to":2.250,"state":"failed"},{"job":2,"attempt":1,)"
      R"("name":"","project":"","sweep":"","user":5,"gpus":[],"from":1.500,"to":null,"state":"running"}]})");
  EXPECT_AGAIN(
      parse_usage_reply,
      R"({"version":1,"attempt":2,"times":[1.0,3.5],"devices":[{"name":"0","memory_bytes":[1,2],)"
      R"("utilization_percent":[null,99.5]}]})");
}

TEST(Messages, Whatif) {
  EXPECT_AGAIN(
      parse_whatif_reply,
      R"({"version":1,"gpus":2,"skipped_rows":0,"results":[{"policy":"fifo","placement":"pack","jobs":2,"runs":3,)"
      R"("mean_wait_s":1.5,"energy_j":20200,"ci95":{"mean_wait_s":0.25,"energy_j":0},)"
      R"("spans":[{"job":7,"gpus":["0"],"from":0,"to":1.5},{"job":"a","gpus":[],"from":0,"to":1}]}]})");
  EXPECT_EQ(problem(parse_whatif_reply, R"({"results":[{"policy":"a","spans":[{"job":[]}]}]})"),
            "results: spans: job must be a number or a name");
}

TEST(Messages, SigningIn) {
  EXPECT_AGAIN(parse_login_reply,
               R"({"version":1,"url":"http://a/#/login/x","expires_s":120,"note":null})");
  EXPECT_AGAIN(parse_login_reply, R"({"version":1,"url":"u","expires_s":120,"note":"moved"})");
  EXPECT_AGAIN(parse_session_reply, R"({"version":1,"token":"abc","uid":5,"user":"ann"})");
  EXPECT_EQ(to_json(SignedOutReply{}), R"({"version":1})");
  EXPECT_EQ(parse_login_code(login_code_json("a\"b")).value_or(""), "a\"b");
  EXPECT_FALSE(parse_login_code(R"({"code":"a","more":1})").has_value());
}

TEST(Messages, Events) {
  EXPECT_AGAIN(parse_submitted_event, R"({"first":1,"count":2})");
  EXPECT_AGAIN(parse_forgotten_event, R"({"count":2})");
  EXPECT_AGAIN(parse_daemon_event, R"({"paused":true,"policy":"fifo","placement":"pack"})");
  EXPECT_AGAIN(parse_device_event, R"({"device":"0","health":"lost"})");
}

TEST(Messages, LogsHaveTheirPlaceInHeaders) {
  for (const LogReply::More more :
       {LogReply::More::Now, LogReply::More::Later, LogReply::More::No}) {
    HttpReply reply;
    reply.head = "HTTP/1.1 200 OK\r\n";
    for (const auto& [name, value] : to_headers({2, 4096, more})) {
      reply.head += name + ": " + value + "\r\n";
    }
    const Result<LogReply> log = parse_log_reply(reply);
    ASSERT_TRUE(log.has_value()) << log.error().message;
    EXPECT_EQ(log->attempt, 2);
    EXPECT_EQ(log->offset, 4096);
    EXPECT_EQ(log->more, more);
  }
  HttpReply wrong;
  wrong.head = "HTTP/1.1 200 OK\r\nBerth-Attempt: x\r\n";
  EXPECT_EQ(parse_log_reply(wrong).error().message,
            "the daemon's answer makes no sense: Berth-Attempt is 'x'");
}

TEST(Messages, Errors) {
  const std::string json = error_json({ErrorCode::Refused, "not \"now\""});
  EXPECT_EQ(json, R"({"version":1,"error":{"code":"refused","message":"not \"now\""}})");
  const Error error = parse_error(json, 409);
  EXPECT_EQ(error.code, ErrorCode::Refused);
  EXPECT_EQ(error.message, "not \"now\"");
  EXPECT_EQ(parse_error("<html>", 502).message, "the daemon answered with status 502");
}

TEST(Messages, WhatIsWrongIsNamed) {
  EXPECT_EQ(problem(parse_wait_reply, "[]"), "it is not a JSON object");
  EXPECT_EQ(problem(parse_wait_reply, "{"), "it is not a JSON object");
  EXPECT_EQ(problem(parse_wait_reply, "{}"), "it has no failed");
  EXPECT_EQ(problem(parse_wait_reply, R"({"failed":-1})"), "failed must be a whole number from 0");
  EXPECT_EQ(problem(parse_wait_reply, R"({"failed":1.5})"), "failed must be a whole number from 0");
  EXPECT_EQ(problem(parse_wait_reply, R"({"failed":null})"),
            "failed must be a whole number from 0");
  EXPECT_EQ(problem(parse_forget_reply, R"({"forgotten":1,"more":1})"),
            "more must be true or false");
  EXPECT_EQ(problem(parse_command_reply, R"({"done":1,"reasons":[1]})"), "reasons must be a text");
  EXPECT_EQ(problem(parse_command_reply, R"({"done":1,"reasons":"a"})"), "reasons must be a list");
  EXPECT_EQ(problem(parse_status_reply, R"({"pid":99999999999})"), "pid must be a whole number");
  EXPECT_EQ(problem(parse_status_reply, R"({"pid":1,"jobs":[]})"), "jobs must be an object");
  EXPECT_EQ(problem(parse_status_reply, R"({"pid":1,"load":{"users":[{"uid":"x"}]}})"),
            "load: users: uid must be a whole number from 0");
  EXPECT_EQ(problem(parse_status_reply, R"({"pid":1,"load":[]})"), "load must be an object");
  EXPECT_EQ(problem(parse_totals_reply, R"({"gpu_seconds":"1","ended":{}})"),
            "gpu_seconds must be a number");
  EXPECT_EQ(problem(parse_login_reply, R"({"url":"u","note":5})"), "note must be a text");
  EXPECT_EQ(problem(parse_jobs_reply, R"({"jobs":[{"id":1,"gpus_needed":"x"}]})"),
            "jobs: gpus_needed must be a whole number from 0 to 1000000");
}

}  // namespace
}  // namespace berth
