// Inputs for files_fuzz to begin with: what berth itself writes, so that a change of a byte is a
// change of a field.
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "daemon/sessions.h"
#include "daemon/usage_log.h"
#include "exec/attempt_record.h"
#include "files.h"
#include "gpu/locks/lock_folder.h"
#include "store/change_coding.h"
#include "store/fields.h"
#include "store/journal.h"
#include "store/redo_log.h"

namespace berth {
namespace {

class Seeds {
 public:
  explicit Seeds(std::string folder) : folder_(std::move(folder)) {}

  void add(FileKind kind, std::string_view bytes) {
    std::ofstream file(folder_ + "/seed-" + std::to_string(count_++), std::ios::binary);
    file << static_cast<char>(kind) << bytes;
    BERTH_CHECK(file.good());
  }

 private:
  std::string folder_;
  int count_ = 0;
};

JobDescription sample_job() {
  JobDescription job;
  job.command = "python train.py --lr 0.1";
  job.name = "train";
  job.project = "vision";
  job.directory = "/home/a";
  job.environment = {"PATH=/bin", "A=b"};
  job.output = "%j.txt";
  job.labels = {{"team", "a"}};
  job.parameters = {{"lr", "0.1"}};
  job.array_index = 3;
  job.warning_signal = 10;
  job.spec.needs.gpus = 2;
  job.spec.needs.memory = gibibytes(3);
  job.spec.needs.only = {"0", "GPU-1"};
  job.spec.needs.model = "a100";
  job.spec.retry.most = 3;
  job.spec.after = {{JobId{1}, Dependency::When::Any}, {JobId{2}}};
  job.spec.limit = std::chrono::hours(1);
  return job;
}

void add_store_journal(Seeds& seeds) {
  const JobSpec spec = sample_job().spec;
  const std::vector<JournalInput> inputs = {
      Submit{spec, JobId{1}, 3, true},
      Cancel{JobId{1}},
      Hold{JobId{1}},
      Release{JobId{1}},
      Pause{},
      Resume{},
      JobStarted{JobId{1}},
      JobExited{JobId{1}, 1, 9, true},
      DeviceChanged{DeviceId{1}, DeviceHealth::Lost},
      ForeignUse{DeviceId{1}, gibibytes(1)},
      DeviceAdded{{"0", "GPU-0", "a100", gibibytes(80), {0, 0, 1}, {50, 400}}},
      Stepped{},
      JobLost{JobId{1}},
      Restarted{"priority"},
      Restored{Restore{JobId{1}, spec, Time{}, 1, Running{{DeviceId{0}, DeviceId{1}}, Time{}}, true,
                       2, Standing{Time{}, {}, {gibibytes(1), Bytes{}}}}},
      Restored{Restore{JobId{1}, spec, Time{}, 1, {}, false, 0, Standing{kNever, 7, {}}},
               3,
               {{2, Time{std::chrono::seconds(5)}, 9}}},
      CheckpointBegun{},
      JobsGone{{JobId{1}, JobId{9}}},
      CheckpointDone{
          {"fifo"},
          {DeviceSlot{{"0", "u", "m", gibibytes(1), {}}, DeviceHealth::Ok, {}, false, {}}},
          {true, 3, {1, -2}}},
      Edit{JobId{1}, spec},
      DeviceTaken{DeviceId{0}, true},
      StartRefused{JobId{1}, {DeviceId{0}, DeviceId{3}}},
      Reclaim{JobId{1}, gibibytes(3)},
      Reestimate{JobId{1}, std::chrono::minutes(10)},
      JobUse{JobId{1}, DeviceId{0}, gibibytes(4)},
      PolicyChanged{"energy:900", Placement::Pack},
      JobExited{JobId{1}, 1, 0, true, MemoryEnd{{MemoryCause::Neighbour, JobId{8}}, gibibytes(5)}},
  };
  for (const JournalInput& input : inputs) {
    seeds.add(FileKind::StoreJournal, encode_input(input));
  }
}

std::deque<Change> sample_changes() {
  Ending ending;
  ending.message = "m";
  ending.energy = 1.5;
  ending.peaks = {gibibytes(1)};
  StoredAttempt attempt;
  attempt.job = JobId{1};
  attempt.attempt = 1;
  attempt.devices = {"0", "1"};
  attempt.stdout_path = "/log";
  std::deque<Change> changes;
  changes.push_back(InsertJobs{JobId{1}, 2, Time{}, std::make_unique<JobDescription>(sample_job()),
                               std::make_shared<std::string>("e")});
  changes.push_back(RememberToken{0, "t", {JobId{1}, 2}});
  changes.push_back(SetWaiting{JobId{1}, true, Time{}});
  changes.push_back(Amend{JobId{1}, sample_job().spec, "n", "c"});
  changes.push_back(SetSetting{"paused", "yes"});
  changes.push_back(BeginAttempt{attempt});
  changes.push_back(StartAttempt{JobId{1}, 1, 42, Time{}});
  changes.push_back(SetStopping{JobId{1}, Stopping::TimeLimit});
  changes.push_back(EndAttempt{JobId{1}, 1, ending});
  changes.push_back(EndJob{JobId{1}, ending});
  changes.push_back(ForgetJobs{{JobId{1}, JobId{2}}});
  changes.push_back(AppendInput{Time{}, encode_input(Stepped{})});
  changes.push_back(AppendOldInput{Time{}, "x"});
  changes.push_back(ForgetInputs{7});
  changes.push_back(SetClaim{JobId{1}, gibibytes(2), 1});
  changes.push_back(SetWeight{JobId{1}, 2, 3});
  return changes;
}

void add_redo_log(Seeds& seeds, const std::string& folder) {
  const std::deque<Change> changes = sample_changes();
  for (std::size_t i = 0; i < changes.size(); ++i) {
    seeds.add(FileKind::Changes, *encode_changes(changes, i, SIZE_MAX));
  }
  const std::string path = folder + "/db";
  RedoLog log = RedoLog::open(path);
  const std::string entry = *encode_changes(changes, 0, SIZE_MAX);
  BERTH_CHECK(log.append(1, entry).has_value() && log.append(2, "x").has_value());
  std::ifstream file(path + "-redo", std::ios::binary);
  std::string bytes(entry.size() + 100, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  seeds.add(FileKind::RedoLog, bytes);
  std::filesystem::remove(path + "-redo");
}

void add_fields(Seeds& seeds) {
  const JobDescription job = sample_job();
  for (const std::string& bytes :
       {encode_needs(job.spec.needs), encode_retry(job.spec.retry), encode_after(job.spec.after),
        encode_list(job.environment), encode_sizes({gibibytes(1), Bytes{}}),
        encode_label("team", "a"), encode_rest(job)}) {
    seeds.add(FileKind::Fields, bytes);
  }
}

void add_small_files(Seeds& seeds) {
  constexpr AttemptName kName{JobId{12}, 3};
  UnbornRecord unborn(kName, "boot-id", "/sys/fs/cgroup/a");
  unborn.set_shim({41, 1000, 1001});
  unborn.born_after(1002);
  unborn.seal(42, 1003);
  const std::string begun(unborn.data(), unborn.size());
  const EndLine end(record_name(kName), EndRecord{127, 0, 13, StartStep::Command, 5});
  seeds.add(FileKind::Attempt, begun);
  seeds.add(FileKind::Attempt, begun + std::string(end.data(), end.size()));
  seeds.add(FileKind::Attempt, std::string(end.data(), end.size()));
  seeds.add(FileKind::Attempt, record_name(kName, ".exit"));
  seeds.add(FileKind::Peaks, "1073741824\t1,2.5\tvision\\ntrain.py --lr # --seed #\n7\t\tkey\n");
  Sessions sessions;
  sessions.add_code("code", 1000, Time{});
  BERTH_CHECK(sessions.begin("code", "token", Time{}).has_value());
  seeds.add(FileKind::Sessions, sessions.text());
  UsageLog usage({"0", "1"});
  for (int second = 0; second < 5; ++second) {
    usage.add(Time{std::chrono::seconds(second)}, {{gibibytes(second), second}, {Bytes{1}, {}}});
  }
  seeds.add(FileKind::Usage, usage.encode());
  seeds.add(FileKind::LockHolder, encode_holder({0, "daemon", 42, 1'700'000'000, "0", "t", "p"}));
  seeds.add(FileKind::MpsAnswer, "1234\n5678\nexit 0\n");
  seeds.add(FileKind::BatchJournal,
            "batch\t0\t3\t1\nprofile\tab\t7\nstart\t0\nsucceeded\t0\tab\nfailed\t1\tab\tno\n"
            "submitted\t2\tab\t9\n");
}

std::string packed(std::string_view text) {
  std::string out(compressBound(text.size()) + 64, '\0');
  z_stream stream{};
  BERTH_CHECK(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string in(text);
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  BERTH_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

void add_texts(Seeds& seeds) {
  seeds.add(FileKind::Tasks,
            "Directory,Executable,Filename,Epochs,Priority\n/a,-1,\"b,c.py\",10,1\nd,sh,e,1,-2\n");
  seeds.add(FileKind::Tasks, "/a,-1,b.py,10,1\n");
  seeds.add(FileKind::Peasy, "a;;o.txt;;python a.py\n --x;;;\nb;;;;true;;;\n");
  seeds.add(FileKind::Sweep,
            "command = \"echo {a} {b} {c}\"\nmode = \"shuffled_grid\"\nn_samples = 20\nseed = 7\n"
            "where = [\"a <= 3 and b != c\", \"a in (1, 2)\"]\nzip = [[\"a\", \"b\"]]\n"
            "allow_unused = false\n[parameters]\na = [1, 2, 3]\nb = \"1..3\"\nc = "
            "\"log:1e-5..1e-1\"\n");
  seeds.add(FileKind::Sweep,
            "command = '''echo {a}'''\nwhere = 'not a % 2 == 0'\nparameters.a = "
            "[0x10, 1_000, 1e3, true, \"x\"]\n");
  seeds.add(FileKind::Machine,
            "count,model,memory,speed,idle_w,full_w,machine\n8,a100,80GiB,1,50,400,0\n4,t4,16GiB,0."
            "4,,,1\n");
  const std::vector<std::string> traces = {
      "job_id,user,submit_s,duration_s,gpus,gpu_milli,priority\nb,ann,10,30,2,,\na,,0,5.5,1,460,"
      "2\n",
      "job_id,user,vc,gpu_num,submit_time,start_time,end_time,duration\n7,u1,v1,8,2020-04-01 "
      "00:00:10,2020-04-01 00:01:00,2020-04-01 01:01:00,3600\n",
      "name,num_gpu,gpu_milli,creation_time,deletion_time,scheduled_time\np,1,500,100,190,110\n",
      "; a comment\n  1  5  0  100  4 -1 -1  8  200 -1 1 42 -1 -1 -1 -1 -1 -1\n"};
  for (const std::string& trace : traces) {
    seeds.add(FileKind::PackedTrace, packed(trace));
    seeds.add(FileKind::PackedTrace, trace);
  }
  seeds.add(
      FileKind::Whatif,
      R"({"policies":["sjf","oracle:sjf+easy"],"queue":false,"gpus":"2x8x80GiB:a100+4:t4@0.4"})");
  for (const std::string_view name : {"sjf+easy", "energy:1500", "priority", "conservative"}) {
    seeds.add(FileKind::Policy, name);
  }
}

}  // namespace

void write_seeds(const std::string& folder) {
  std::filesystem::create_directories(folder);
  Seeds seeds(folder);
  add_store_journal(seeds);
  add_redo_log(seeds, folder);
  add_fields(seeds);
  add_small_files(seeds);
  add_texts(seeds);
}

}  // namespace berth
