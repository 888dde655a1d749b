#include "slurm/wrapper.h"

#include <fmt/format.h>

#include "base/text.h"
#include "slurm/read_number.h"

namespace berth {
namespace {

constexpr std::string_view kScript = R"sh(
_b_i=${SLURM_ARRAY_TASK_ID:-0}
_b_me=$_b_send.${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}
_b_n='
'
cd "$_b_folder" 2>/dev/null || exit 97
_b_line=$(sed -n "$((_b_i + 1)){p;q;}" elements 2>/dev/null)
[ -n "$_b_line" ] || exit 97
eval "$_b_line"

_b_begin="$_b_me ${SLURM_RESTART_COUNT:-0} ${SLURMD_NODENAME:-?} ${CUDA_VISIBLE_DEVICES:--} $(date +%s%N)"
if (set -C; echo "$_b_begin" >"c/$_b_i") 2>/dev/null; then
  exec 9>>"c/$_b_i"
  flock 9
else
  _b_owner=
  read -r _b_owner _b_rest 2>/dev/null <"c/$_b_i" || [ -n "$_b_owner" ] || exit 98
  [ "$_b_owner" = "$_b_me" ] || exit 0 # another copy has the job, or nobody wants it any more
  exec 9>>"c/$_b_i"
  flock 9 # the copy before may still run
  [ ! -e "x/$_b_i" ] || exit 0
  echo "$_b_begin" >&9
fi

_b_usage='- -'
_b_finish() { # CODE STARTED [PROBLEM]
  _b_text="$_b_me ${SLURM_RESTART_COUNT:-0} $1 $2 $(date +%s%N) $_b_usage ${3:-}"
  for _b_try in 1 2 3 4 5 6 7 8 9 10; do
    if echo "$_b_text" >"$_b_folder/x/.$_b_i" && sync "$_b_folder/x/.$_b_i" &&
      mv "$_b_folder/x/.$_b_i" "$_b_folder/x/$_b_i"; then
      break
    fi
    sleep 2
  done 2>/dev/null
  exit "$1"
}
cd "$_b_dir" 2>/dev/null || _b_finish 126 0 "the directory $_b_dir is not on the node ${SLURMD_NODENAME:-}"
if ! (: >>"$_b_out") 2>/dev/null; then
  _b_finish 126 0 "the node ${SLURMD_NODENAME:-} cannot write to $_b_out"
fi
[ -n "$_b_err" ] || _b_err=$_b_out
if ! (: >>"$_b_err") 2>/dev/null; then
  _b_finish 126 0 "the node ${SLURMD_NODENAME:-} cannot write to $_b_err"
fi
[ "$_b_limit" = 0 ] || export BERTH_END_TIME=$(($(date +%s) + _b_limit))

_b_sampler=
if [ "$_b_sample" = 1 ] && [ -n "${CUDA_VISIBLE_DEVICES:-}" ] && command -v nvidia-smi >/dev/null; then
  setsid sh -c 'nvidia-smi -i "$CUDA_VISIBLE_DEVICES" --query-gpu=memory.used,power.draw \
    --format=csv,noheader,nounits -l 2 2>/dev/null | awk -F", *" -v to="$1" -v gpus="$2" "
      { if (\$1 > peak) peak = \$1; if (\$2 ~ /^[0-9.]+\$/) { energy += \$2 * 2; known = 1 } }
      NR % gpus == 0 { printf \"%.0f %s\\n\", peak * 1048576, (known ? sprintf(\"%.0f\", energy) : \"-\") > to
                        close(to) }"' \
    sh "$_b_folder/x/u$_b_i" "$(echo "$CUDA_VISIBLE_DEVICES" | awk -F, '{ print NF }')" \
    9>&- </dev/null >/dev/null 2>&1 &
  _b_sampler=$!
fi

_b_pid=
_b_stop=TERM
_b_asked=
_b_signal() { [ -z "$_b_pid" ] || kill -s "$1" -- "-$_b_pid" 2>/dev/null; }
trap '_b_asked=1; _b_signal "$_b_stop"; _b_stop=KILL' TERM
for _b_each in HUP INT QUIT USR1 USR2 ALRM; do
  trap "_b_signal $_b_each" "$_b_each"
done
if [ "$_b_err" = "$_b_out" ]; then
  setsid /bin/sh -c "$_b_cmd" </dev/null >>"$_b_out" 2>&1 &
else
  setsid /bin/sh -c "$_b_cmd" </dev/null >>"$_b_out" 2>>"$_b_err" &
fi
_b_pid=$!
[ -z "$_b_asked" ] || _b_signal TERM
while :; do
  wait "$_b_pid"
  _b_code=$?
  kill -0 "$_b_pid" 2>/dev/null || break
done
_b_signal KILL
# Slurm has ended this copy to start it again, unless berth asked for the end: there is no end yet.
if [ "${_b_again:-}" = 1 ] && [ -n "$_b_asked" ] && [ ! -e "$_b_folder/x/k$_b_i" ]; then
  exit "$_b_code"
fi
if [ -n "$_b_sampler" ]; then
  kill -s KILL -- "-$_b_sampler" 2>/dev/null
  read -r _b_usage 2>/dev/null <"$_b_folder/x/u$_b_i" || _b_usage='- -'
  rm -f "$_b_folder/x/u$_b_i"
fi
_b_finish "$_b_code" 1
)sh";

}  // namespace

std::string quote_for_element(std::string_view text) {
  std::string quoted = "'";
  for (const char each : text) {
    if (each == '\'') {
      quoted += "'\\''";
    } else if (each == '\n') {
      quoted += "'\"$_b_n\"'";
    } else {
      quoted += each;
    }
  }
  return quoted + '\'';
}

std::string element_line(const WrappedJob& job) {
  std::string line = fmt::format(
      "_b_job={} _b_attempt={} _b_limit={} _b_sample={} _b_dir={} _b_out={} _b_err={} "
      "_b_cmd={}",
      job.job, job.attempt, job.limit, job.sample ? 1 : 0, quote_for_element(job.directory),
      quote_for_element(job.output), quote_for_element(job.errors), quote_for_element(job.command));
  for (const std::string& variable : job.variables) {
    const std::size_t equals = variable.find('=');
    if (equals != variable.npos) {
      line += fmt::format("; export {}={}", variable.substr(0, equals),
                          quote_for_element(std::string_view(variable).substr(equals + 1)));
    }
  }
  return line + '\n';
}

std::optional<std::pair<std::uint64_t, std::uint16_t>> read_element(std::string_view line) {
  constexpr std::string_view kJob = "_b_job=";
  constexpr std::string_view kAttempt = "_b_attempt=";
  std::string_view job = take_until(line, ' ');
  std::string_view attempt = take_until(line, ' ');
  std::pair<std::uint64_t, std::uint16_t> read;
  if (!job.starts_with(kJob) || !attempt.starts_with(kAttempt) ||
      !read_number(job.substr(kJob.size()), read.first) ||
      !read_number(attempt.substr(kAttempt.size()), read.second)) {
    return std::nullopt;
  }
  return read;
}

std::string wrapper_script(const std::string& folder, int send) {
  return fmt::format("#!/bin/sh\n# Runs a job of berth's.\n_b_folder={}\n_b_send={}{}",
                     quote_for_element(folder), send, kScript);
}

std::optional<ClaimRecord> read_claim(std::string_view text) {
  if (!text.ends_with('\n')) {
    return std::nullopt;
  }
  text.remove_suffix(1);
  const std::size_t before = text.rfind('\n');
  std::string_view line = before == text.npos ? text : text.substr(before + 1);
  ClaimRecord claim;
  claim.owner = take_until(line, ' ');
  if (claim.owner + '\n' == kWithdrawn) {
    return claim;
  }
  const bool counted = read_number(take_until(line, ' '), claim.restarts);
  claim.node = take_until(line, ' ');
  claim.gpus = take_until(line, ' ');
  claim.gpus = claim.gpus == "-" ? "" : claim.gpus;
  return counted && read_number(take_until(line, ' '), claim.started) ? std::optional(claim)
                                                                      : std::nullopt;
}

std::optional<ExitRecord> read_exit(std::string_view text) {
  if (!text.ends_with('\n')) {
    return std::nullopt;
  }
  text.remove_suffix(1);
  ExitRecord exit;
  exit.owner = take_until(text, ' ');
  int started = 1;
  const bool sound = read_number(take_until(text, ' '), exit.restarts) &&
                     read_number(take_until(text, ' '), exit.code) &&
                     read_number(take_until(text, ' '), started) &&
                     read_number(take_until(text, ' '), exit.ended);
  if (!sound) {
    return std::nullopt;
  }
  exit.started = started != 0;
  (void)read_number(take_until(text, ' '), exit.peak);
  if (double energy = 0; read_number(take_until(text, ' '), energy)) {
    exit.energy = energy;
  }
  exit.problem = text;
  return exit;
}

}  // namespace berth
