#include "cli/topics.h"

#include <array>

namespace berth {
namespace {

constexpr std::array kTopics = {
    HelpTopic{"selection", "the words that name jobs",
              R"(Every command that takes JOBS understands the same words:

  12  3-7  12,20-29     jobs by number
  @  @~1                your newest submission, and the one before it
  train*  vision/train  jobs by name, with the shell's wildcards; in a project
  state=failed,oom      jobs in a state; live and ended are groups of states
  project=P  sweep=S    jobs of a project, of a sweep
  name=N  user=U  label=KEY=VALUE

Numbers, submissions and names add up; the other words narrow the choice. An
empty value is an error. Commands that change jobs ask first on a terminal when
several jobs are chosen other than by number; --yes skips the question.

Examples:
  berth kill sweep=lr-search state=queued
  berth rerun state=failed,oom project=vision
  berth logs -f @
)"},
    HelpTopic{"states", "the states of a job",
              R"(A job that has not ended is in one of these states:

  held       waits until berth release
  queued     waits for devices, for its time, or for jobs that it follows
  starting   has its devices and is about to run
  running    runs; paused if berth pause stopped it

At its end it is one of these:

  succeeded  it exited with 0
  failed     it exited with another code, or a signal ended it
  oom        it ran out of GPU memory, or used more than it claimed
  timed_out  it ran longer than its --timeout
  cancelled  berth kill ended it, or a job that it follows went wrong
  lost       the machine went down under it, or its keeper was killed

berth why JOB says why a job waits; berth show JOB tells how one ended.
)"},
    HelpTopic{"exit-codes", "what the exit codes of berth mean",
              R"(  0    it worked; berth run, berth wait: all jobs succeeded
  1    a job failed, or the daemon refused a request
  2    the command line or a file is wrong, or names a job that is not there
  3    the daemon cannot be reached or started
  124  a time limit: of a job in berth run, of berth wait --timeout
  130  interrupted: berth run had jobs left

berth submit --wait ends with the exit code of the job, or with 128 and the
number of the signal that ended it, as a shell does.
)"},
    HelpTopic{"variables", "environment variables", R"(Every job has these variables:

  CUDA_VISIBLE_DEVICES  the devices of the job (ROCR_VISIBLE_DEVICES on AMD)
  BERTH_JOB_ID          its number
  BERTH_ATTEMPT         1, and one more with each retry
  BERTH_NAME            its name
  BERTH_PROJECT         its project
  BERTH_ARRAY_INDEX     which job of --array it is
  BERTH_END_TIME        when its time limit ends it, in seconds since 1970

berth itself looks at these:

  BERTH_HOME            the folder of the daemon's state; another folder is
                        another daemon
  BERTH_GPUS            what --gpus means when it is not given
  BERTH_LOCKS           the folder of the locks that instances of berth share
  NO_COLOR              set to anything: no colours
)"},
};

}  // namespace

std::span<const HelpTopic> help_topics() { return kTopics; }

}  // namespace berth
