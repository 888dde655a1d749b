#include "spec/job_line.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace berth {
namespace {

using Separator = JobReader::Separator;

/// "3:command" for a job at line 3, "3!message" for an error there.
std::vector<std::string> read_all(std::string_view text, Separator separator = Separator::Newline,
                                  std::size_t piece = std::string_view::npos) {
  JobReader reader(separator);
  std::vector<std::string> items;
  const auto drain = [&] {
    while (const auto item = reader.next()) {
      items.push_back(*item ? fmt::format("{}:{}", (*item)->line, (*item)->command)
                            : fmt::format("{}!{}", item->error().line, item->error().message));
    }
  };
  while (!text.empty()) {
    reader.feed(text.substr(0, piece));
    text.remove_prefix(std::min(piece, text.size()));
    drain();
  }
  reader.finish();
  drain();
  return items;
}

using Items = std::vector<std::string>;

TEST(JobReader, TakesOneJobALine) {
  EXPECT_EQ(read_all("a\n\n  # comment\nb | c > d # e\n   f\r\n"),
            (Items{"1:a", "4:b | c > d # e", "5:f"}));
  EXPECT_EQ(read_all("no newline at the end"), (Items{"1:no newline at the end"}));
  EXPECT_EQ(read_all(""), Items{});
}

TEST(JobReader, TakesBlocks) {
  EXPECT_EQ(read_all("<<END\ncd x\n# kept\n\nrun\nEND\nafter\n"),
            (Items{"1:cd x\n# kept\n\nrun\n", "7:after"}));
  EXPECT_EQ(read_all("@gpus=2 << EOF\nx\nEOF\n"), (Items{"1:x\n"}));
  EXPECT_EQ(read_all("a\n<<END\nx\n"),
            (Items{"1:a", "2!opens the block <<END, which no line END closes"}));
  EXPECT_EQ(read_all("<<not a block\n"), (Items{"1:<<not a block"}));
}

TEST(JobReader, TakesNulSeparatedJobs) {
  using namespace std::string_view_literals;
  EXPECT_EQ(read_all("a\nb\0# not a comment\0\n\0@gpus=0 c\0"sv, Separator::Nul),
            (Items{"1:a\nb", "2:# not a comment", "4:c"}));
}

TEST(JobReader, NamesWhatIsWrongAndGoesOn) {
  using namespace std::string_view_literals;
  EXPECT_EQ(read_all("a\nx\0y\nb\n"sv),
            (Items{"1:a", "2!holds a NUL byte (for NUL-separated jobs give -0)", "3:b"}));
  EXPECT_EQ(read_all("ok\n\xc3(\nb\n"), (Items{"1:ok", "2!is not UTF-8 at byte 1", "3:b"}));
  EXPECT_EQ(read_all("@gpus=2\n"), (Items{"1!has options but no command"}));
  EXPECT_EQ(read_all("@gpus=x a\n"), (Items{"1!gpus must be a whole number, not 'x'"}));
  EXPECT_EQ(read_all("@cpus=1 a\n"),
            (Items{"1!unknown option @cpus: the options are name, project, gpus, mem, share, "
                   "mps, priority, weight, timeout, expected, retries and after"}));
}

TEST(TakeOptions, KnowsMps) {
  const auto needs_of = [](std::string_view line, Needs needs) {
    const Result<LineOptions> options = take_options(line);
    EXPECT_TRUE(options);
    JobSpec spec;
    spec.needs = needs;
    options->apply(spec);
    spec.needs.settle();
    return std::pair(spec.needs.mps != 0, spec.needs.thread_percentage);
  };
  Needs given;
  given.mps = mps_of(0);
  given.thread_percentage = 30;
  EXPECT_EQ(needs_of("x", {}), std::pair(false, 0u));
  EXPECT_EQ(needs_of("@mps=on x", {}), std::pair(true, 0u));
  EXPECT_EQ(needs_of("@mps=50 x", {}), std::pair(true, 50u));
  EXPECT_EQ(needs_of("x", given), std::pair(true, 30u));
  EXPECT_EQ(needs_of("@mps=on x", given), std::pair(true, 30u));
  EXPECT_EQ(needs_of("@mps=60 x", given), std::pair(true, 60u));
  EXPECT_EQ(needs_of("@mps=off x", given), std::pair(false, 0u));
  for (const char* wrong : {"@mps=0 x", "@mps=101 x", "@mps=yes x", "@mps= x"}) {
    std::string_view line = wrong;
    EXPECT_FALSE(take_options(line)) << wrong;
  }
}

TEST(JobReader, RefusesALineOfOneMegabyteWithoutKeepingIt) {
  const std::string big(1 << 20, 'x');
  for (const std::size_t piece : {std::size_t{4096}, std::size_t{1} << 30}) {
    const Items items = read_all("a\n" + big + "\nb\n", Separator::Newline, piece);
    ASSERT_EQ(items.size(), 3u);
    EXPECT_EQ(items[0], "1:a");
    EXPECT_EQ(items[1].substr(0, 30), "2!is longer than 131071 bytes,");
    EXPECT_EQ(items[2], "3:b");
  }
  EXPECT_EQ(read_all(std::string(kLongestCommand, 'x')).at(0).size(), kLongestCommand + 2);
}

TEST(JobReader, DoesNotCareHowTheBytesArrive) {
  const std::string text = "@name=n one\n<<E\ntwo\nlines\nE\n\n#c\n\xc3\xa9t\xc3\xa9\nlast";
  const Items whole = read_all(text);
  ASSERT_EQ(whole.size(), 4u);
  for (std::size_t piece = 1; piece < text.size(); ++piece) {
    EXPECT_EQ(read_all(text, Separator::Newline, piece), whole);
  }
}

TEST(LineOptions, AreTakenOffTheFront) {
  std::string_view line =
      " @gpus=2 @priority=-5 @weight=3 @timeout=1h @mem=8GiB @share=30 @retries=3 @name=a "
      "@project=p "
      "@after=ok:x,any:3,notok:y,z python train.py @not=taken";
  const Result<LineOptions> options = take_options(line);
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(line, "python train.py @not=taken");
  EXPECT_EQ(options->gpus, 2u);
  EXPECT_EQ(options->priority, -5);
  EXPECT_EQ(options->weight, 3);
  EXPECT_EQ(options->timeout, std::chrono::hours(1));
  EXPECT_EQ(options->claim->memory, gibibytes(8));
  EXPECT_EQ(options->share, 300u);
  EXPECT_EQ(options->retries, 3);
  EXPECT_EQ(options->name, "a");
  EXPECT_EQ(options->project, "p");
  ASSERT_EQ(options->after.size(), 4u);
  EXPECT_EQ(options->after[1].when, Dependency::When::Any);
  EXPECT_EQ(options->after[1].job, "3");
  EXPECT_EQ(options->after[2].when, Dependency::When::NotOk);
  EXPECT_EQ(options->after[3].when, Dependency::When::Ok);
}

TEST(LineOptions, AreSaidOverWhatIsSaidAlready) {
  JobSpec spec;
  spec.limit = std::chrono::hours(1);
  spec.retry.most = 3;
  spec.priority = 7;
  LineOptions options;
  options.apply(spec);
  EXPECT_EQ(spec.limit, std::chrono::hours(1));
  EXPECT_EQ(spec.retry.most, 3);
  ASSERT_TRUE(options.set("timeout", "0"));
  ASSERT_TRUE(options.set("retries", "0"));
  ASSERT_TRUE(options.set("priority", "0"));
  options.apply(spec);
  EXPECT_EQ(spec.limit, kForever);
  EXPECT_EQ(spec.retry.most, 0);
  EXPECT_EQ(spec.priority, 0);
}

TEST(Needs, WithoutAGpuClaimNothing) {
  JobSpec spec;
  LineOptions options;
  for (const auto& [key, value] :
       {std::pair{"mem", "4GiB"}, {"share", "30"}, {"mps", "50"}, {"gpus", "0"}}) {
    ASSERT_TRUE(options.set(key, value));
  }
  options.apply(spec);
  EXPECT_EQ(spec.needs.memory, gibibytes(4)) << "another may say gpus=1 over it";
  spec.needs.settle();
  Needs nothing;
  nothing.gpus = 0;
  EXPECT_EQ(spec.needs, nothing);
}

TEST(EarlierJobs, AreFoundByNameAndByNumber) {
  EarlierJobs jobs;
  const auto find = [&](const char* job) {
    const Result<std::size_t> place = jobs.find({Dependency::When::Ok, job});
    return place ? static_cast<int>(*place) : -1;
  };
  EXPECT_EQ(find("1"), -1);
  jobs.add("a");
  jobs.add({});
  EXPECT_EQ(find("a"), 0);
  EXPECT_EQ(find("2"), 1);
  EXPECT_EQ(find("3"), -1);
  EXPECT_EQ(find("0"), -1);
  jobs.add("a");
  jobs.add("1");
  EXPECT_EQ(find("a"), 2) << "the newest of that name";
  EXPECT_EQ(find("1"), 3) << "a name goes before a number";
}

TEST(ReadJob, TakesATextOfItsOwn) {
  const Result<JobLine> job = read_job("@gpus=2 cd x\n# kept\nrun\n");
  ASSERT_TRUE(job);
  EXPECT_EQ(job->command, "cd x\n# kept\nrun");
  EXPECT_EQ(job->options.gpus, 2u);
  EXPECT_EQ(read_job("<<END")->command, "<<END");
  for (const std::string& wrong :
       {std::string(), std::string("@gpus=2"), std::string("@gpus=x y"), std::string("a\0b", 3),
        std::string("\xff"), std::string(kLongestCommand + 1, 'x')}) {
    EXPECT_FALSE(read_job(wrong)) << wrong.substr(0, 20);
  }
}

TEST(LineOptions, LeaveCommandsAlone) {
  for (const std::string_view command : {"@reboot x", "@ =", "@A=1", "a=1 cmd", "@"}) {
    std::string_view line = command;
    ASSERT_TRUE(take_options(line).has_value());
    EXPECT_EQ(line, command);
  }
}

TEST(LineOptions, RefuseNonsense) {
  for (const std::string_view text :
       {"@gpus=-1 a", "@gpus= a", "@gpus=99999999999999999999 a", "@mem=lots a", "@share=0 a",
        "@share=101 a", "@priority=1e3 a", "@weight=0 a", "@timeout=soon a", "@retries=-1 a",
        "@after=ok: a", "@after=, a"}) {
    std::string_view line = text;
    EXPECT_FALSE(take_options(line).has_value()) << text;
  }
}

TEST(Utf8, IsCheckedAsTheStandardSays) {
  struct Row {
    std::string_view text;
    std::size_t bad;
  };
  constexpr std::size_t kGood = std::string_view::npos;
  for (const Row& row : std::initializer_list<Row>{{"plain ascii text", kGood},
                                                   {"\xc3\xa9", kGood},
                                                   {"\xe2\x82\xac", kGood},
                                                   {"\xf0\x9f\x9a\x80", kGood},
                                                   {"a\xff", 1},
                                                   {"\xc0\x80", 0},
                                                   {"\xed\xa0\x80", 0},
                                                   {"\xf4\x90\x80\x80", 0},
                                                   {"abcdefgh\xe2\x82", 8},
                                                   {"\x80", 0}}) {
    EXPECT_EQ(find_invalid_utf8(row.text), row.bad) << row.text;
  }
}

}  // namespace
}  // namespace berth
