#include "cli/toolkit/args.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

using WordList = std::vector<std::string_view>;

/// One option of every kind, and what they were set to.
struct Fixture {
  bool quiet = false;
  std::string name;
  std::optional<std::string> maybe;
  std::int64_t number = 0;
  Duration length{};
  Bytes size{};
  std::string watch = "(unset)";
  std::string out = "(unset)";
  std::vector<std::vector<std::string>> lists;
  std::vector<std::string> words;
  std::vector<std::string> rest;

  Args args() {
    Args args("tool WORD [options]", "Does things.");
    args.positional("WORD", "a word", 1, 2, [this](std::string_view word) -> Result<void> {
      if (word == "bad") {
        return fail(ErrorCode::Usage, "bad is no word");
      }
      words.emplace_back(word);
      return {};
    });
    args.flag("-q,--quiet", quiet, "say less");
    args.value("--name", "NAME", "a name", name);
    args.value("--maybe", "TEXT", "a text", maybe);
    args.value("-n,--number", "N", "a number", number);
    args.value("--time", "TIME", "how long", length);
    args.value("--mem", "SIZE", "how much", size);
    args.optional_value("--watch", "SECONDS", "again and again",
                        [this](std::string_view word) -> Result<void> {
                          watch = word;
                          return {};
                        });
    args.optional_value(
        "-o,--out", "FILE", "where to",
        [this](std::string_view word) -> Result<void> {
          out = word;
          return {};
        },
        true);
    args.list("-p,-gc", "NAME VALUE…", "values",
              [this](std::span<const std::string_view> items) -> Result<void> {
                lists.emplace_back(items.begin(), items.end());
                return {};
              });
    return args;
  }

  /// "ok", "help" or the error.
  std::string parse(WordList list, bool with_rest = false) {
    Args declared = args();
    if (with_rest) {
      declared.rest("COMMAND", "what to run",
                    [this](std::span<const std::string_view> items) -> Result<void> {
                      rest.assign(items.begin(), items.end());
                      return {};
                    });
    }
    const Result<bool> done = declared.parse(list);
    return !done ? done.error().message : *done ? "ok" : "help";
  }
};

TEST(Args, SetsEveryKind) {
  Fixture f;
  EXPECT_EQ(f.parse({"one", "-q", "--name", "x", "--maybe=y=z", "-n", "-5", "--time", "2h30m",
                     "--mem=8GiB", "--watch", "two"}),
            "ok");
  EXPECT_TRUE(f.quiet);
  EXPECT_EQ(f.name, "x");
  EXPECT_EQ(f.maybe, "y=z");
  EXPECT_EQ(f.number, -5);
  EXPECT_EQ(f.length, std::chrono::minutes(150));
  EXPECT_EQ(f.size, gibibytes(8));
  EXPECT_EQ(f.watch, "");
  EXPECT_EQ(f.words, (std::vector<std::string>{"one", "two"}));
}

TEST(Args, ListsEndAtTheNextOption) {
  Fixture f;
  EXPECT_EQ(f.parse({"w", "-p", "lr", "0.1", "-1", "-.5", "-gc", "2", "-p=a", "b", "--", "v"}),
            "ok");
  const std::vector<std::vector<std::string>> expected = {
      {"lr", "0.1", "-1", "-.5"}, {"2"}, {"a", "b"}};
  EXPECT_EQ(f.lists, expected);
  EXPECT_EQ(f.words, (std::vector<std::string>{"w", "v"}));
}

TEST(Args, AnOptionalValueIsAttached) {
  Fixture f;
  EXPECT_EQ(f.parse({"--watch=5", "w"}), "ok");
  EXPECT_EQ(f.watch, "5");
  EXPECT_EQ(f.parse({"w", "-o"}), "ok");
  EXPECT_EQ(f.out, "");
  EXPECT_EQ(f.parse({"w", "-o", "--quiet"}), "ok");
  EXPECT_EQ(f.out, "");
  EXPECT_EQ(f.parse({"w", "-o", "file"}), "ok");
  EXPECT_EQ(f.out, "file");
  EXPECT_EQ(f.parse({"--out=other", "w"}), "ok");
  EXPECT_EQ(f.out, "other");
}

TEST(Args, AfterTwoDashesAllAreWords) {
  Fixture f;
  EXPECT_EQ(f.parse({"--", "-q", "--name"}), "ok");
  EXPECT_FALSE(f.quiet);
  EXPECT_EQ(f.words, (std::vector<std::string>{"-q", "--name"}));
}

TEST(Args, ASingleDashIsAWord) {
  Fixture f;
  EXPECT_EQ(f.parse({"-"}), "ok");
  EXPECT_EQ(f.words, std::vector<std::string>{"-"});
}

TEST(Args, TheRestIsLeftAlone) {
  Fixture f;
  EXPECT_EQ(f.parse({"a", "-q", "b", "python", "-q", "--help", "--"}, true), "ok");
  EXPECT_EQ(f.rest, (std::vector<std::string>{"python", "-q", "--help", "--"}));
}

struct ErrorRow {
  const char* name;
  WordList words;
  std::string_view says;
};

class ArgsErrors : public testing::TestWithParam<ErrorRow> {};

TEST_P(ArgsErrors, Say) { EXPECT_EQ(Fixture().parse(GetParam().words), GetParam().says); }

INSTANTIATE_TEST_SUITE_P(
    Table, ArgsErrors,
    testing::Values(
        ErrorRow{"missing_word", {}, "WORD is missing (--help shows the usage)"},
        ErrorRow{"too_many_words", {"a", "b", "c"}, "unexpected word 'c' (--help shows the usage)"},
        ErrorRow{"refused_word", {"bad"}, "bad is no word"},
        ErrorRow{"typing_error", {"--nmae", "x"}, "unknown option --nmae: did you mean --name?"},
        ErrorRow{"unknown", {"--unheard"}, "unknown option --unheard (--help lists them)"},
        ErrorRow{
            "unknown_with_value", {"--unheard=3"}, "unknown option --unheard (--help lists them)"},
        ErrorRow{"no_value", {"w", "--name"}, "--name needs a value: NAME"},
        ErrorRow{"no_list", {"w", "-p", "-q"}, "-p needs a value: NAME VALUE…"},
        ErrorRow{"flag_with_value", {"w", "--quiet=1"}, "--quiet takes no value"},
        ErrorRow{"no_number", {"w", "-n", "x"}, "-n: the value must be a whole number, not 'x'"},
        ErrorRow{"no_duration",
                 {"w", "--time", "x"},
                 "--time: 'x' is not a duration: write 90s, 10m, 2h30m or 1d"},
        ErrorRow{"no_size", {"w", "--mem", "x"}, "--mem: 'x' is not a size: write 8GiB or 500MB"}),
    [](const auto& row) { return std::string(row.param.name); });

/// Options that may be shortened, and one that came too late for that.
std::string parse_short(Fixture& f, WordList list) {
  bool late = false;
  Args args = f.args();
  args.abbreviate();
  args.flag("--numeral", late, "declared later");
  const Result<bool> done = args.parse(list);
  return !done ? done.error().message : *done ? "ok" : "help";
}

TEST(Args, MayBeShortened) {
  Fixture f;
  EXPECT_EQ(parse_short(f, {"w", "--num", "3", "--qui", "--may=x", "-ofile"}), "ok");
  EXPECT_EQ(f.number, 3);
  EXPECT_TRUE(f.quiet);
  EXPECT_EQ(f.maybe, "x");
  EXPECT_EQ(f.out, "file");
  EXPECT_EQ(parse_short(f, {"w", "-n7", "-g", "a", "b"}), "ok");
  EXPECT_EQ(f.number, 7);
  EXPECT_EQ(f.lists.back(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(parse_short(f, {"w", "--m", "x"}), "ambiguous option: --m could match --maybe, --mem");
  EXPECT_EQ(parse_short(f, {"w", "--n"}), "ambiguous option: --n could match --name, --number");
  EXPECT_EQ(parse_short(f, {"w", "--numer"}), "unknown option --numer: did you mean --number?");
  EXPECT_EQ(f.parse({"w", "--num", "3"}), "unknown option --num: did you mean --name?");
  testing::internal::CaptureStdout();
  EXPECT_EQ(parse_short(f, {"--he"}), "help");
  testing::internal::GetCapturedStdout();
}

TEST(Args, HelpIsPrintedAndNothingElseHappens) {
  testing::internal::CaptureStdout();
  Fixture f;
  EXPECT_EQ(f.parse({"--help", "--unheard"}), "help");
  EXPECT_EQ(f.parse({"-h"}), "help");
  EXPECT_FALSE(testing::internal::GetCapturedStdout().empty());
}

TEST(Args, HelpLinesUp) {
  bool flag = false;
  Args args("tool [options]", "Does things.");
  args.flag("-q", flag, "say less");
  args.list("-p", "NAME VALUE…", "values\nof a name", {});
  args.flag("--an-option-of-great-length", flag, "below");
  args.example("tool -q");
  EXPECT_EQ(args.help(),
            "usage: tool [options]\n\nDoes things.\n\n"
            "  -q                      say less\n"
            "  -p NAME VALUE…          values of a name\n"
            "  --an-option-of-great-length\n"
            "                          below\n"
            "\nExamples:\n  tool -q\n");
}

}  // namespace
}  // namespace berth
