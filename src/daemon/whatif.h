// Whatif: a simulation for a client, in a process of its own: however long it takes, no job waits
// for it. There is one at a time, it has little claim on the processor, and it ends with its client
// or when its time is over.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "api/http_server.h"
#include "base/fd.h"
#include "base/time.h"

namespace berth {

class Whatif {
 public:
  explicit Whatif(Loop& loop) : loop_(loop) {}
  ~Whatif();

  bool busy() const { return pid_ != 0; }

  /// Runs this program with these words; what it prints is the answer. Not while busy.
  void start(const std::vector<std::string>& words, std::unique_ptr<Responder> reply, Time now);

  /// Ends what nobody waits for any more. To be called whenever something has happened, and at
  /// deadline().
  void check(Time now);
  Time deadline() const { return busy() ? until_ : kNever; }

 private:
  void read_output();
  void finish();
  void answer(HttpResponse response);

  Loop& loop_;
  pid_t pid_ = 0;
  Fd output_;
  Fd errors_;  // a file in memory
  std::string text_;
  std::unique_ptr<Responder> reply_;  // none: it was answered already
  Time until_ = kNever;
};

}  // namespace berth
