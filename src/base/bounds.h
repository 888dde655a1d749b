// Bounds: how much a request may hold, and how much work it may cause. A request that exceeds a
// bound is refused with a message that names the bound. docs/formats.md lists the bounds in a
// table, and docs/openapi.yaml gives them for the fields that have one.
//
// The bounds are chosen so that, whatever a client sends, the daemon stays below 300 MB beyond what
// it has queued, and keeps answering other clients meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>

namespace berth {

// --- a request

/// Bytes in any request. A hundred thousand jobs take about 10 MiB.
inline constexpr std::size_t kLongestBody = std::size_t{32} << 20;
/// A longer body is read by a thread of its own: a body of this size takes a few milliseconds of
/// the loop.
inline constexpr std::size_t kShortBody = std::size_t{64} << 10;
/// Bytes in a text that describes many jobs, as JSON with everything in it escaped.
inline constexpr std::size_t kLongestText = std::size_t{16} << 20;
/// Bytes in a sweep file: the description of a sweep, not the jobs that it makes.
inline constexpr std::size_t kLongestSweepFile = std::size_t{1} << 20;
/// Bytes, as JSON, in a job, in the parameters of a sweep, and in every message but a submission.
inline constexpr std::size_t kLongestMessage = std::size_t{1} << 20;
/// Bytes, as JSON, in what jobs have in common: the environment, with everything in it escaped.
inline constexpr std::size_t kLongestDefaults = std::size_t{12} << 20;
/// Levels of nested brackets. Readers recurse once for each level.
inline constexpr std::size_t kDeepestJson = 32;
/// Values in one job or message: a value takes many times the memory of the two bytes that write
/// it.
inline constexpr std::size_t kMostValues = 50'000;
inline constexpr std::size_t kLongestToken = 256;

// --- a submission

/// An array counts as one job. Each job takes about a kilobyte until it is queued.
inline constexpr std::size_t kMostJobs = 100'000;
/// Jobs, with each member of an array counted.
inline constexpr std::int64_t kMostInArray = 1'000'000;
/// Dependencies on other jobs, of all jobs of the submission.
inline constexpr std::size_t kMostDependencies = 1'000'000;
/// Bytes that all its jobs take until they are queued. Defaults count for every job that has them.
inline constexpr std::size_t kMostJobMemory = std::size_t{128} << 20;

// --- a job

/// The most that the kernel passes to a shell in one argument (MAX_ARG_STRLEN, less the NUL at its
/// end). A longer command could never start.
inline constexpr std::size_t kLongestCommand = 131071;
/// The same limit for an environment variable, including its name.
inline constexpr std::size_t kLongestVariable = kLongestCommand;
inline constexpr std::size_t kMostVariables = 4096;
/// The kernel gives a program a quarter of its stack, usually 2 MiB, for its arguments and its
/// environment. This bound leaves room for the command and for the variables that berth adds.
inline constexpr std::size_t kLargestEnvironment = std::size_t{1792} << 10;
/// A path (PATH_MAX, less the NUL).
inline constexpr std::size_t kLongestPath = 4095;
/// The name of the job, its project, its sweep or a model.
inline constexpr std::size_t kLongestName = 1024;
/// The name of a device in only, exclude or prefer.
inline constexpr std::size_t kLongestDevice = 256;
inline constexpr std::size_t kMostDevices = 256;
/// Lists show all labels of a job.
inline constexpr std::size_t kMostLabels = 64;
inline constexpr std::size_t kLongestLabel = 1024;  // the key, and the value
inline constexpr std::size_t kLargestLabels = std::size_t{16} << 10;
/// Entries in each dependency list of one job: `after` and `follows`.
inline constexpr std::size_t kMostFollowed = 10'000;

// --- a sweep

inline constexpr std::size_t kMostParameters = 256;
inline constexpr std::size_t kLongestParameter = 4096;  // the name, and the value
inline constexpr std::size_t kLargestParameters = std::size_t{64} << 10;
/// All conditions in `where` together.
inline constexpr std::size_t kLongestCondition = std::size_t{64} << 10;
/// Dots in a key of a sweep file, and levels of nested brackets: each is a table within a table.
inline constexpr std::size_t kDeepestKey = 16;
/// Points times the steps for each point, while a sweep is counted or sampled: about a second.
inline constexpr std::uint64_t kMostSweepSteps = 100'000'000;

}  // namespace berth
