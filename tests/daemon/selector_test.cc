// The words by which users choose jobs.
#include "daemon/selector.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace berth {
namespace {

/// Two jobs are paused, and the user has made two submissions.
const SelectorFacts kFacts{[] {
                             return std::vector<JobId>{JobId{4}, JobId{9}};
                           },
                           [](std::size_t back) {
                             return back > 1
                                        ? std::nullopt
                                        : std::optional(back == 0 ? IdRange{JobId{20}, JobId{29}}
                                                                  : IdRange{JobId{12}, JobId{12}});
                           }};

/// All that a filter says, as a text.
std::string text_of(const JobFilter& filter) {
  std::string text;
  for (const IdRange& ids : filter.ids) {
    text += fmt::format("{}-{} ", ids.first.value, ids.last.value);
  }
  for (const NamedJobs& named : filter.or_named) {
    text += fmt::format("or:{}{} ", named.project ? *named.project + "/" : "", named.name);
  }
  for (const JobPhase phase : filter.phases) {
    text += fmt::format("{} ", phase_name(phase));
  }
  if (filter.only_running) {
    for (const JobId job : *filter.only_running) {
      text += fmt::format("only:{} ", job.value);
    }
  }
  for (const std::string& name : filter.names) {
    text += fmt::format("name:{} ", name);
  }
  for (const auto& [key, value] : filter.labels) {
    text += fmt::format("label:{}:{} ", key, value);
  }
  text += filter.project ? fmt::format("project:{} ", *filter.project) : "";
  text += filter.sweep ? fmt::format("sweep:{} ", *filter.sweep) : "";
  text += filter.user ? fmt::format("user:{} ", *filter.user) : "";
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

struct SelectorCase {
  const char* name;
  std::vector<std::string_view> words;
  std::string means;
};

class Selectors : public ::testing::TestWithParam<SelectorCase> {};

TEST_P(Selectors, Mean) {
  const Result<JobFilter> filter = parse_selector(GetParam().words, kFacts);
  ASSERT_TRUE(filter.has_value()) << filter.error().message;
  EXPECT_EQ(text_of(*filter), GetParam().means);
}

INSTANTIATE_TEST_SUITE_P(
    Daemon, Selectors,
    ::testing::Values(
        SelectorCase{"nothing", {}, ""}, SelectorCase{"number", {"12"}, "12-12"},
        SelectorCase{"range", {"3-7"}, "3-7"}, SelectorCase{"one_long_range", {"5-5"}, "5-5"},
        SelectorCase{"leading_zeros", {"007"}, "7-7"},
        SelectorCase{"numbers_widen", {"1", "3-4", "1"}, "1-1 3-4 1-1"},
        SelectorCase{"list_of_numbers", {"59,60,70-71"}, "59-59 60-60 70-71"},
        SelectorCase{"almost_a_list", {"59,x"}, "name:59,x"},
        SelectorCase{"nearly_a_list", {"59,3-"}, "name:59,3-"},
        SelectorCase{"largest", {"9223372036854775807"}, "9223372036854775807-9223372036854775807"},
        SelectorCase{"name", {"train*"}, "name:train*"},
        SelectorCase{"names_widen", {"a", "v/b", "5"}, "5-5 or:a or:v/b"},
        SelectorCase{"a_key_narrows", {"a", "c", "name=b"}, "or:a or:c name:b"},
        SelectorCase{"a_name_of_digits", {"name=12"}, "name:12"},
        SelectorCase{"almost_a_range", {"3-x"}, "name:3-x"},
        SelectorCase{"half_a_range", {"3-"}, "name:3-"},
        SelectorCase{"two_dashes", {"1-2-3"}, "name:1-2-3"},
        SelectorCase{"negative", {"-3"}, "name:-3"},
        SelectorCase{"project_and_name", {"vision/train"}, "name:train project:vision"},
        SelectorCase{"whole_project", {"vision/"}, "project:vision"},
        SelectorCase{"slash_in_a_name", {"a/b/c"}, "name:b/c project:a"},
        SelectorCase{"project", {"project=a/b"}, "project:a/b"},
        SelectorCase{"sweep", {"sweep=s=1"}, "sweep:s=1"},
        SelectorCase{"state", {"state=running"}, "running"},
        SelectorCase{"states_widen", {"state=held", "state=oom"}, "held oom"},
        SelectorCase{"list_of_states", {"state=failed,oom"}, "failed oom"},
        SelectorCase{"paused", {"state=paused"}, "running only:4 only:9"},
        SelectorCase{"paused_or_held", {"state=paused,held"}, "running held only:4 only:9"},
        SelectorCase{"paused_and_all_running",
                     {"state=paused", "state=live"},
                     "running held queued starting running"},
        SelectorCase{"newest_submission", {"@"}, "20-29"},
        SelectorCase{"the_one_before", {"@~1", "3"}, "12-12 3-3"},
        SelectorCase{"live", {"state=live"}, "held queued starting running"},
        SelectorCase{"ended", {"state=ended"}, "succeeded failed cancelled timed_out oom lost"},
        SelectorCase{"label", {"label=team=a"}, "label:team:a"},
        SelectorCase{"label_without_value", {"label=team="}, "label:team:"},
        SelectorCase{"label_with_equals", {"label=k=a=b"}, "label:k:a=b"},
        SelectorCase{"labels_narrow", {"label=a=1", "label=b=2"}, "label:a:1 label:b:2"},
        SelectorCase{"user_by_number", {"user=4242"}, "user:4242"},
        SelectorCase{"user_by_name", {"user=root"}, "user:0"},
        SelectorCase{"all_kinds",
                     {"1-9", "state=failed", "n", "project=p", "sweep=s", "user=0", "label=a=b"},
                     "1-9 or:n failed label:a:b project:p sweep:s user:0"}),
    [](const auto& row) { return row.param.name; });

struct WrongSelector {
  const char* name;
  std::vector<std::string_view> words;
  const char* says;
};

class WrongSelectors : public ::testing::TestWithParam<WrongSelector> {};

TEST_P(WrongSelectors, AreRefusedAndSayWhy) {
  const Result<JobFilter> filter = parse_selector(GetParam().words, kFacts);
  ASSERT_FALSE(filter.has_value()) << text_of(*filter);
  EXPECT_EQ(filter.error().code, ErrorCode::Usage);
  EXPECT_NE(filter.error().message.find(GetParam().says), std::string::npos)
      << filter.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Daemon, WrongSelectors,
    ::testing::Values(
        WrongSelector{"zero", {"0"}, "start at 1"},
        WrongSelector{"range_from_zero", {"0-3"}, "start at 1"},
        WrongSelector{"too_large", {"9223372036854775808"}, "whole number"},
        WrongSelector{"range_too_large", {"1-99999999999999999999"}, "whole number"},
        WrongSelector{"back_to_front", {"7-3"}, "back to front"},
        WrongSelector{"empty_word", {""}, "is a variable empty?"},
        WrongSelector{"no_project_no_name", {"/"}, "is a variable empty?"},
        WrongSelector{"no_name", {"name="}, "'name=' chooses no job: is a variable empty?"},
        WrongSelector{"no_project", {"project="}, "is a variable empty?"},
        WrongSelector{"no_sweep", {"5", "sweep="}, "is a variable empty?"},
        WrongSelector{"state", {"state=done"}, "no state 'done'"},
        WrongSelector{"no_state", {"state="}, "is a variable empty?"},
        WrongSelector{"half_a_list", {"state=failed,"}, "no state ''"},
        WrongSelector{"second_state", {"state=held", "state=done"}, "no state 'done'"},
        WrongSelector{"no_number_of_submissions", {"@~"}, "@~1 for the one before it"},
        WrongSelector{"no_submission", {"@home"}, "names no submission"},
        WrongSelector{"key", {"colour=red"}, "'colour'"},
        WrongSelector{"no_key", {"=red"}, "cannot be chosen by ''"},
        WrongSelector{"label", {"label=team"}, "label=KEY=VALUE"},
        WrongSelector{"label_without_key", {"label==a"}, "label=KEY=VALUE"},
        WrongSelector{"unknown_user", {"user=no such user"}, "no user"},
        WrongSelector{"no_user", {"user="}, "is a variable empty?"},
        WrongSelector{"user_too_large", {"user=4294967296"}, "user"},
        WrongSelector{"two_projects", {"project=a", "project=b"}, "only one project"},
        WrongSelector{"two_sweeps", {"sweep=a", "sweep=b"}, "only one sweep"}),
    [](const auto& row) { return row.param.name; });

TEST(SelectorFactsTest, SayWhenThereAreFewerSubmissions) {
  const Result<JobFilter> filter = parse_selector({"@~2"}, kFacts);
  ASSERT_FALSE(filter.has_value());
  EXPECT_EQ(filter.error().code, ErrorCode::NotFound);
  EXPECT_EQ(filter.error().message, "there is no submission @~2: you have made fewer");
}

}  // namespace
}  // namespace berth
