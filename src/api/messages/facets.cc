#include "api/messages/facets.h"

#include "api/messages/fields.h"

namespace berth {

template <class Io>
void fields(Io& io, In<Io, FacetsReply::Project>& project) {
  io.required("name", project.name);
  io.field("jobs", project.jobs);
}

template <class Io>
void fields(Io& io, In<Io, FacetsReply::User>& user) {
  io.required("uid", user.uid);
  io.field("name", user.name);
  io.field("jobs", user.jobs);
}

template <class Io>
void fields(Io& io, In<Io, FacetsReply::Label>& label) {
  io.required("key", label.key);
  io.field("value", label.value);
  io.field("jobs", label.jobs);
}

template <class Io>
void fields(Io& io, In<Io, FacetsReply::Sweep>& sweep) {
  io.required("name", sweep.name);
  io.field("project", sweep.project);
  io.field("jobs", sweep.jobs);
  io.field("first", sweep.first);
  io.field("last", sweep.last);
  io.field("states", sweep.states);
}

template <class Io>
void fields(Io& io, In<Io, FacetsReply>& reply) {
  io.version();
  io.required("projects", reply.projects);
  io.field("users", reply.users);
  io.field("labels", reply.labels);
  io.field("sweeps", reply.sweeps);
}

std::string to_json(const FacetsReply& reply) { return written(reply); }
Result<FacetsReply> parse_facets_reply(std::string_view json) {
  return read_message<FacetsReply>(json);
}

}  // namespace berth
