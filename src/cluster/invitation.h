// Invitation: for a while the head lets in boxes whose users have its token.
//
// Who can get the munge key from it: who knows the token, a random number of 128 bits that is shown
// once on the head's terminal, is never on a command line, and is void when the invitation ends.
// The port is no wall and need not be one: everything said there is encrypted with the token as
// key.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "base/time.h"
#include "cluster/commands.h"
#include "cluster/enrolment.h"
#include "cluster/places.h"
#include "cluster/private_munge.h"

namespace berth {

/// Lets the box into the cluster, as far as the head can: its GPUs into gres.conf.
JoinAnswer enrol(Commands& commands, const Places& places, const JoinRequest& request);

class Invitation {
 public:
  /// Ends the invitation that there may be, makes a token and listens. From now on the port
  /// answers.
  static Result<Invitation> open(Commands& commands, const Places& places, int port);
  /// Ends the invitation of another process; false when there is none.
  static Result<bool> end(const Places& places);

  const std::string& token() const { return token_; }

  /// Answers boxes until `length` is over or the process is told to end. `heard` is told of each.
  void serve(Duration length, const std::function<void(std::string_view)>& heard);

  /// For the process that leaves the invitation to a child: nothing is taken down with this object.
  void forget() { (void)munge_.release(); }

 private:
  Invitation(Commands& commands, const Places& places) : commands_(commands), places_(places) {}
  std::string answer(std::string_view credential,
                     const std::function<void(std::string_view)>& heard);

  Commands& commands_;
  const Places& places_;
  std::string token_;
  Fd lock_;
  Fd socket_;
  std::unique_ptr<PrivateMunge> munge_;
};

}  // namespace berth
