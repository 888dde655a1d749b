// Bounds: how much a request may hold, and how much work it may make. What exceeds one is refused
// with a message that names it. docs/formats.md has the same as a table, and docs/openapi.yaml
// where a field has one.
//
// They are chosen so that whatever a client sends, the daemon stays below 300 MB beyond what it has
// queued, and answers others meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>

namespace berth {

// --- a request

/// Of any request. A hundred thousand jobs are some 10 MiB.
inline constexpr std::size_t kLongestBody = std::size_t{32} << 20;
/// What is longer is read by a thread of its own: this much takes a few milliseconds of the loop.
inline constexpr std::size_t kShortBody = std::size_t{64} << 10;
/// Of a text that describes many jobs. As JSON, with all that is escaped in it.
inline constexpr std::size_t kLongestText = std::size_t{16} << 20;
/// Of a sweep file: what describes a sweep, not what it makes.
inline constexpr std::size_t kLongestSweepFile = std::size_t{1} << 20;
/// Of a job, of the parameters of a sweep, and of every message but a submission; as JSON.
inline constexpr std::size_t kLongestMessage = std::size_t{1} << 20;
/// Of what jobs have in common, as JSON: the environment, with everything in it escaped.
inline constexpr std::size_t kLongestDefaults = std::size_t{12} << 20;
/// Brackets within brackets. Readers call themselves for each.
inline constexpr std::size_t kDeepestJson = 32;
/// In one job or message: a value takes many times the memory of the two bytes that write it.
inline constexpr std::size_t kMostValues = 50'000;
inline constexpr std::size_t kLongestToken = 256;

// --- a submission

/// An array counts as one. Each takes about a kilobyte until it is queued.
inline constexpr std::size_t kMostJobs = 100'000;
/// Members of arrays count.
inline constexpr std::int64_t kMostInArray = 1'000'000;
/// Of all its jobs on other jobs.
inline constexpr std::size_t kMostDependencies = 1'000'000;
/// That all its jobs take until they are queued. Defaults count for every job that has them.
inline constexpr std::size_t kMostJobMemory = std::size_t{128} << 20;

// --- a job

/// What the kernel passes to a shell in one argument (MAX_ARG_STRLEN, less the NUL at its end). No
/// longer command could ever start.
inline constexpr std::size_t kLongestCommand = 131071;
/// The same for a variable, with its name.
inline constexpr std::size_t kLongestVariable = kLongestCommand;
inline constexpr std::size_t kMostVariables = 4096;
/// The kernel gives a program a quarter of its stack, mostly 2 MiB, for its arguments and its
/// environment. This leaves room for the command and for the variables that berth adds.
inline constexpr std::size_t kLargestEnvironment = std::size_t{1792} << 10;
/// A path (PATH_MAX, less the NUL).
inline constexpr std::size_t kLongestPath = 4095;
/// Of the job, its project, its sweep and a model.
inline constexpr std::size_t kLongestName = 1024;
/// Of a device in only, exclude and prefer.
inline constexpr std::size_t kLongestDevice = 256;
inline constexpr std::size_t kMostDevices = 256;
/// Lists show them all.
inline constexpr std::size_t kMostLabels = 64;
inline constexpr std::size_t kLongestLabel = 1024;  // the key, and the value
inline constexpr std::size_t kLargestLabels = std::size_t{16} << 10;
/// In the list of one job: `after` and `follows`.
inline constexpr std::size_t kMostFollowed = 10'000;

// --- a sweep

inline constexpr std::size_t kMostParameters = 256;
inline constexpr std::size_t kLongestParameter = 4096;  // the name, and the value
inline constexpr std::size_t kLargestParameters = std::size_t{64} << 10;
/// All that it says after `where` together.
inline constexpr std::size_t kLongestCondition = std::size_t{64} << 10;
/// Dots in a key of a sweep file, and brackets within brackets: each is a table within a table.
inline constexpr std::size_t kDeepestKey = 16;
/// Points times what is to be done for each, while it is counted or sampled: about a second.
inline constexpr std::uint64_t kMostSweepSteps = 100'000'000;

}  // namespace berth
