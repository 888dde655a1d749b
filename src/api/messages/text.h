// POST /v1/texts/check and /v1/texts/submit: many jobs as one text, or as the parts of a sweep.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/messages.h"

namespace berth {

struct TextRequest {
  enum class Format { Lines, Peasy, Sweep, Csv };

  Format format = Format::Lines;
  std::string text;  // of a sweep: a sweep file, or nothing
  std::string token;
  JobDescription defaults;
  std::optional<JobId> environment_from;  // as SubmitRequest has it

  // Of a sweep, over what its file says.
  std::optional<std::string> command;                // the template
  std::vector<std::vector<std::string>> parameters;  // the words of each
  std::vector<std::vector<std::string>> zips;
  std::vector<std::string> where;
  std::string mode;  // empty: not said
  std::optional<std::uint64_t> n_samples;
  std::optional<std::uint64_t> seed;
  bool allow_unused = false;

  std::optional<std::size_t> header = 0;  // of a CSV file: which row, from 0; none: there is none
};

/// An error names the field that is wrong.
Result<TextRequest> parse_text_request(std::string_view json);

/// What a text would queue.
struct TextReply {
  struct Problem {
    std::size_t line = 0;  // 0: there is no place to name
    std::size_t column = 0;
    std::string message;
  };

  std::uint64_t count = 0;
  std::vector<const JobDescription*> jobs;  // the first of them
  std::vector<Problem> problems;
  std::optional<std::uint64_t> seed;  // with which a random sweep was made
};
std::string to_json(const TextReply& reply);

}  // namespace berth
