#include "store/change_coding.h"

#include <concepts>
#include <limits>
#include <type_traits>

#include "store/coding.h"
#include "store/fields.h"

namespace berth {
namespace {

/// Environments are long and mostly the same: each is written once an entry.
using Environments = std::vector<std::shared_ptr<const std::string>>;

// Out and In are called with the fields of a value in turn, so that one list of fields says both
// how it is written and how it is read.

class Out {
 public:
  template <class T>
  using Of = const T;

  Encoder bytes;
  Environments environments;

  template <class T>
  requires std::is_integral_v<T> || std::is_enum_v<T>
  void operator()(const T& value) { bytes.integer(static_cast<std::int64_t>(value)); }
  void operator()(const JobId& value) { bytes.number(value.value); }
  void operator()(const Bytes& value) { bytes.integer(value.count); }
  void operator()(const Duration& value) { bytes.integer(value.count()); }
  void operator()(const Time& value) { bytes.integer(value.time_since_epoch().count()); }
  void operator()(const double& value) {
    bytes.text({reinterpret_cast<const char*>(&value), sizeof value});
  }
  void operator()(const std::string& value) { bytes.text(value); }
  void operator()(const std::vector<std::string>& value) { bytes.list(value); }
  void operator()(const std::map<std::string, std::string>& value) { bytes.map(value); }
  void operator()(const Needs& value) { bytes.text(encode_needs(value)); }
  void operator()(const RetryRule& value) { bytes.text(encode_retry(value)); }
  void operator()(const std::vector<Dependency>& value) { bytes.text(encode_after(value)); }
  void operator()(const std::vector<Bytes>& value) { bytes.text(encode_sizes(value)); }
  void operator()(const std::vector<JobId>& value) {
    bytes.number(value.size());
    for (const JobId& job : value) {
      (*this)(job);
    }
  }
  template <class T>
  void operator()(const std::optional<T>& value) {
    bytes.number(value ? 1 : 0);
    if (value) {
      (*this)(*value);
    }
  }
  void operator()(const std::shared_ptr<const std::string>& value) {
    std::size_t place = 0;
    while (place < environments.size() && environments[place] != value) {
      ++place;
    }
    bytes.number(place);
    if (place == environments.size()) {
      environments.push_back(value);
      bytes.text(*value);
    }
  }
};

class In {
 public:
  template <class T>
  using Of = T;

  explicit In(std::string_view entry) : bytes(entry) {}

  Decoder bytes;
  Environments environments;
  bool nonsense = false;

  template <class T>
  requires std::is_integral_v<T> || std::is_enum_v<T>
  void operator()(T& value) { value = static_cast<T>(bytes.integer()); }
  void operator()(JobId& value) { value = JobId{bytes.number()}; }
  void operator()(Bytes& value) { value = Bytes{bytes.integer()}; }
  void operator()(Duration& value) { value = Duration(bytes.integer()); }
  void operator()(Time& value) { value = Time(Duration(bytes.integer())); }
  void operator()(double& value) {
    const std::string_view text = bytes.text();
    nonsense = nonsense || text.size() != sizeof value;
    if (!nonsense) {
      text.copy(reinterpret_cast<char*>(&value), sizeof value);
    }
  }
  void operator()(std::string& value) { value = bytes.text(); }
  void operator()(std::vector<std::string>& value) { value = bytes.list(); }
  void operator()(std::map<std::string, std::string>& value) { value = bytes.map(); }
  void operator()(Needs& value) { take(decode_needs(bytes.text()), value); }
  void operator()(RetryRule& value) { take(decode_retry(bytes.text()), value); }
  void operator()(std::vector<Dependency>& value) { take(decode_after(bytes.text()), value); }
  void operator()(std::vector<Bytes>& value) { take(decode_sizes(bytes.text()), value); }
  void operator()(std::vector<JobId>& value) {
    for (std::uint64_t left = bytes.number(); left > 0 && !bytes.failed(); --left) {
      (*this)(value.emplace_back());
    }
  }
  template <class T>
  void operator()(std::optional<T>& value) {
    if (bytes.number_up_to(1) == 1) {
      (*this)(value.emplace());
    }
  }
  void operator()(std::shared_ptr<const std::string>& value) {
    const std::uint64_t place = bytes.number_up_to(environments.size());
    if (place == environments.size()) {
      environments.push_back(std::make_shared<const std::string>(bytes.text()));
    }
    value = environments[place];
  }

 private:
  template <class T>
  void take(std::optional<T> decoded, T& value) {
    nonsense = nonsense || !decoded;
    if (decoded) {
      value = std::move(*decoded);
    }
  }
};

template <class Coder>
void each(Coder& code, auto&... fields) {
  (code(fields), ...);
}

template <class Coder>
void fields(Coder& code, typename Coder::template Of<JobSpec>& spec) {
  each(code, spec.needs, spec.priority, spec.expected, spec.limit, spec.warn_before, spec.begin,
       spec.retry, spec.after, spec.held);
}

/// Without the environment, which is apart.
template <class Coder>
void fields(Coder& code, typename Coder::template Of<JobDescription>& job) {
  fields(code, job.spec);
  each(code, job.name, job.project, job.command, job.directory, job.output, job.error, job.labels,
       job.sweep, job.parameters, job.array_index, job.warning_signal, job.user);
}

template <class Coder>
void fields(Coder& code, typename Coder::template Of<Ending>& ending) {
  each(code, ending.outcome, ending.reason, ending.exit_code, ending.signal, ending.ended,
       ending.peak, ending.gpu_time, ending.energy, ending.message, ending.peaks);
}

void fields(Out& code, const InsertJobs& change) {
  each(code, change.first, change.count, change.submitted, change.environment);
  fields(code, *change.description);
}
void fields(In& code, InsertJobs& change) {
  each(code, change.first, change.count, change.submitted, change.environment);
  auto description = std::make_unique<JobDescription>();
  fields(code, *description);
  change.description = std::move(description);
}
template <class Coder>
void fields(Coder& code, typename Coder::template Of<RememberToken>& change) {
  each(code, change.user, change.token, change.submission.first, change.submission.count);
}
template <class Coder>
void fields(Coder& code, typename Coder::template Of<SetWaiting>& change) {
  each(code, change.job, change.held, change.not_before);
}
template <class Coder>
void fields(Coder& code, typename Coder::template Of<Amend>& change) {
  each(code, change.job, change.name, change.command);
  fields(code, change.spec);
}
template <class Coder>
void fields(Coder& code, typename Coder::template Of<SetSetting>& change) {
  each(code, change.name, change.value);
}
/// What a begun attempt does not have yet is not written.
template <class Coder>
void fields(Coder& code, typename Coder::template Of<BeginAttempt>& change) {
  auto& attempt = change.attempt;
  each(code, attempt.job, attempt.attempt, attempt.devices, attempt.begun, attempt.stdout_path,
       attempt.stderr_path);
}
template <class Coder>
void fields(Coder& code, typename Coder::template Of<StartAttempt>& change) {
  each(code, change.job, change.attempt, change.pid, change.started);
}
template <class Coder>
void fields(Coder& code, typename Coder::template Of<SetStopping>& change) {
  each(code, change.job, change.why);
}
template <class Coder>
void fields(Coder& code, typename Coder::template Of<SetClaim>& change) {
  each(code, change.job, change.memory, change.memory_retries);
}
template <class Coder>
void fields(Coder& code, typename Coder::template Of<SetWeight>& change) {
  each(code, change.first, change.count, change.weight);
}
template <class Coder>
void fields(Coder& code, typename Coder::template Of<EndAttempt>& change) {
  each(code, change.job, change.attempt);
  fields(code, change.ending);
}
template <class Coder>
void fields(Coder& code, typename Coder::template Of<EndJob>& change) {
  each(code, change.job);
  fields(code, change.ending);
}
template <class Coder>
void fields(Coder& code, typename Coder::template Of<ForgetJobs>& change) {
  each(code, change.jobs);
}
template <class Coder>
void fields(Coder& code, typename Coder::template Of<AppendOldInput>& change) {
  each(code, change.time, change.input);
}
template <class Coder>
void fields(Coder& code, typename Coder::template Of<AppendInput>& change) {
  each(code, change.time, change.input);
}
template <class Coder>
void fields(Coder& code, typename Coder::template Of<ForgetInputs>& change) {
  each(code, change.before);
}

template <class Coder>
void fields(Coder& code, typename Coder::template Of<StageJobs>& change) {
  each(code, change.first, change.count);
}
template <class Coder>
void fields(Coder& code, typename Coder::template Of<CompleteStaged>& change) {
  each(code, change.first);
}
template <class Coder>
void fields(Coder& code, typename Coder::template Of<ShowStaged>& change) {
  each(code, change.first, change.count, change.held);
}
template <class Coder>
void fields(Coder& code, typename Coder::template Of<DropStaged>& change) {
  each(code, change.first, change.count);
}

/// The place of a kind of change in the variant is its number on disk.
template <std::size_t I = 0>
std::optional<Change> read(std::uint64_t kind, In& code) {
  if constexpr (I < std::variant_size_v<Change>) {
    if (kind != I) {
      return read<I + 1>(kind, code);
    }
    std::variant_alternative_t<I, Change> change;
    fields(code, change);
    return Change(std::move(change));
  } else {
    return std::nullopt;
  }
}

}  // namespace

std::optional<std::string> encode_changes(const std::deque<Change>& changes, std::size_t from,
                                          std::size_t most) {
  Out code;
  for (std::size_t i = from; i < changes.size(); ++i) {
    if (code.bytes.bytes().size() > most) {
      return std::nullopt;
    }
    code.bytes.number(changes[i].index());
    std::visit([&](const auto& change) { fields(code, change); }, changes[i]);
  }
  return code.bytes.bytes().size() > most ? std::nullopt : std::optional(code.bytes.take());
}

std::optional<std::vector<Change>> decode_changes(std::string_view bytes) {
  In code(bytes);
  std::vector<Change> changes;
  while (!code.bytes.at_end()) {
    std::optional<Change> change = read(code.bytes.number(), code);
    if (!change || code.bytes.failed() || code.nonsense) {
      return std::nullopt;
    }
    changes.push_back(std::move(*change));
  }
  return code.bytes.failed() ? std::nullopt : std::optional(std::move(changes));
}

}  // namespace berth
