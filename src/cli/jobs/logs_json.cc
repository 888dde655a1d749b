#include "cli/jobs/logs_json.h"

#include <cstdio>
#include <string>

#include "api/json_writer.h"

namespace berth {
namespace {

struct WholeLog {
  std::uint64_t job = 0;
  std::uint16_t attempt = 0;
  std::int64_t size = 0;  // of all that was written, printed or not
  std::string text;
};

Result<WholeLog> read_whole(const LogRequest& request) {
  WholeLog log;
  log.job = request.job;
  const Result<void> read = read_log(request, [&](const LogPiece& piece) {
    log.attempt = piece.attempt;
    log.size = piece.end;
    log.text += piece.text;
  });
  if (!read && (read.error().code != ErrorCode::NotFound || request.attempt != 0)) {
    return Failure(read.error());
  }
  return log;
}

/// Puts pieces together to lines. What an attempt wrote last is a line, too.
class JsonLines {
 public:
  JsonLines(std::uint64_t job, std::mutex& mutex) : job_(job), mutex_(mutex) {}
  ~JsonLines() { end_attempt(); }

  void add(const LogPiece& piece) {
    if (piece.attempt != attempt_) {
      end_attempt();
      attempt_ = piece.attempt;
    }
    part_ += piece.text;
    std::size_t at = 0;
    for (std::size_t end; (end = part_.find('\n', at)) != part_.npos; at = end + 1) {
      print(part_.substr(at, end - at));
    }
    part_.erase(0, at);
  }

 private:
  void end_attempt() {
    if (!part_.empty()) {
      print(part_);
    }
    part_.clear();
  }

  void print(const std::string& line) {
    JsonWriter json;
    json.object([&] {
      json.field("version", 1);
      json.field("job", job_);
      json.field("attempt", attempt_);
      json.field("line", line);
    });
    const std::string text = json.take() + "\n";
    const std::lock_guard lock(mutex_);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }

  std::uint64_t job_;
  std::mutex& mutex_;
  std::uint16_t attempt_ = 0;
  std::string part_;
};

}  // namespace

Result<void> print_logs_json(const std::vector<LogRequest>& requests) {
  std::vector<WholeLog> logs;
  for (const LogRequest& request : requests) {
    Result<WholeLog> log = read_whole(request);
    if (!log) {
      return Failure(log.error());
    }
    logs.push_back(std::move(*log));
  }
  JsonWriter json;
  json.object([&] {
    json.field("version", 1);
    json.array("logs", [&] {
      for (const WholeLog& log : logs) {
        json.object([&] {
          json.field("job", log.job);
          json.field("attempt", log.attempt);
          json.field("text", log.text);
          json.field("size", log.size);
          json.field("truncated", static_cast<std::int64_t>(log.text.size()) < log.size);
        });
      }
    });
  });
  const std::string text = json.take() + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  return {};
}

Result<void> print_json_lines(const LogRequest& request, std::mutex& mutex) {
  JsonLines lines(request.job, mutex);
  return read_log(request, [&](const LogPiece& piece) { lines.add(piece); });
}

}  // namespace berth
