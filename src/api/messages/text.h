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
  std::string text;  // of a sweep: a sweep file, or empty
  std::string token;
  JobDescription defaults;
  std::optional<JobId> environment_from;  // as in SubmitRequest

  // Of a sweep; these override its file.
  std::optional<std::string> command;                // the template
  std::vector<std::vector<std::string>> parameters;  // the words of each
  std::vector<std::vector<std::string>> zips;
  std::vector<std::string> where;
  std::string mode;  // empty: not given
  std::optional<std::uint64_t> n_samples;
  std::optional<std::uint64_t> seed;
  bool allow_unused = false;

  bool overwrite = false;                 // of GPUPeasy's format: output files may exist already
  std::optional<std::size_t> header = 0;  // of a CSV file: its row, from 0; none: no header
};

/// An error names the wrong field.
Result<TextRequest> parse_text_request(std::string_view json);

/// The jobs that a text would queue.
struct TextReply {
  struct Problem {
    std::size_t line = 0;  // 0: no place to name
    std::size_t column = 0;
    std::string message;
  };

  std::uint64_t count = 0;
  std::vector<const JobDescription*> jobs;  // the first of them
  std::vector<Problem> problems;
  std::optional<std::uint64_t> seed;  // the seed of a random sweep
};
std::string to_json(const TextReply& reply);

}  // namespace berth
