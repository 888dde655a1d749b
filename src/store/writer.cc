#include "store/writer.h"

#include "store/prepare.h"

namespace berth {

Result<std::unique_ptr<Writer>> Writer::make(Database& database) {
  Result<Interner> interner = Interner::make(database);
  if (!interner) {
    return Failure(interner.error());
  }
  std::unique_ptr<Writer> writer(new Writer(database, std::move(*interner)));
  if (const Result<void> prepared = writer->prepare(database); !prepared) {
    return Failure(prepared.error());
  }
  Result<Counters> counters = read_counters(database);
  if (!counters) {
    return Failure(counters.error());
  }
  writer->counters_ = std::move(*counters);
  return writer;
}

Writer::Writer(Database& database, Interner interner)
    : interner_(std::move(interner)),
      jobs_(interner_, counters_),
      life_(database, counters_),
      eraser_(interner_, counters_),
      staged_(eraser_, counters_),
      journal_(counters_) {}

Result<void> Writer::prepare(Database& database) {
  if (Result<void> done = jobs_.prepare(database); !done) {
    return done;
  }
  if (Result<void> done = life_.prepare(); !done) {
    return done;
  }
  if (Result<void> done = eraser_.prepare(database); !done) {
    return done;
  }
  if (Result<void> done = journal_.prepare(database); !done) {
    return done;
  }
  if (Result<void> done = counter_writer_.prepare(database); !done) {
    return done;
  }
  if (Result<void> done = staged_.prepare(database); !done) {
    return done;
  }
  return prepare_all(
      database, {{set_setting_, "INSERT OR REPLACE INTO settings(name, value) VALUES(?1, ?2)"}});
}

/// Which part writes which change.
struct Writer::Apply {
  Writer& to;

  Result<void> operator()(const InsertJobs& change) { return to.jobs_.write(change); }
  Result<void> operator()(const RememberToken& change) { return to.jobs_.write(change); }
  Result<void> operator()(const Amend& change) { return to.jobs_.write(change); }

  Result<void> operator()(const SetWaiting& change) { return to.life_.write(change); }
  Result<void> operator()(const SetClaim& change) { return to.life_.write(change); }
  Result<void> operator()(const SetWeight& change) { return to.life_.write(change); }
  Result<void> operator()(const BeginAttempt& change) { return to.life_.write(change); }
  Result<void> operator()(const StartAttempt& change) { return to.life_.write(change); }
  Result<void> operator()(const SetStopping& change) { return to.life_.write(change); }
  Result<void> operator()(const EndAttempt& change) { return to.life_.write(change); }
  Result<void> operator()(const EndJob& change) { return to.life_.write(change); }

  Result<void> operator()(const ForgetJobs& change) { return to.eraser_.write(change); }

  Result<void> operator()(const StageJobs& change) { return to.staged_.write(change); }
  Result<void> operator()(const CompleteStaged& change) { return to.staged_.write(change); }
  Result<void> operator()(const ShowStaged& change) { return to.staged_.write(change); }
  Result<void> operator()(const DropStaged& change) { return to.staged_.write(change); }

  Result<void> operator()(const AppendOldInput& change) { return to.journal_.write(change); }
  Result<void> operator()(const AppendInput& change) { return to.journal_.write(change); }
  Result<void> operator()(const ForgetInputs& change) { return to.journal_.write(change); }

  Result<void> operator()(const SetSetting& change) {
    return to.set_setting_.run(std::string_view(change.name), Blob{change.value});
  }
};

Result<void> Writer::apply(const Change& change) { return std::visit(Apply{*this}, change); }

Result<void> Writer::flush(const Counters& committed, std::uint64_t redone) {
  counters_.redone = redone;
  if (Result<void> done = counter_writer_.write(counters_, committed); !done) {
    return done;
  }
  return interner_.flush();
}

void Writer::rolled_back(const Counters& committed) {
  counters_ = committed;
  interner_.forget_changes();
}

}  // namespace berth
