// GET /v1/facets: the properties by which jobs can be chosen.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace berth {

struct FacetsReply {
  struct Project {
    std::string name;
    std::uint64_t jobs = 0;
  };
  struct User {
    uid_t uid = 0;
    std::string name;
    std::uint64_t jobs = 0;
  };
  struct Label {
    std::string key;
    std::string value;
    std::uint64_t jobs = 0;
  };
  struct Sweep {
    std::string name;
    std::string project;  // empty: none
    std::uint64_t jobs = 0;
    JobId first;
    JobId last;
    std::map<std::string, std::uint64_t> states;  // jobs in each; states without jobs omitted
  };
  std::vector<Project> projects;
  std::vector<User> users;
  std::vector<Label> labels;
  std::vector<Sweep> sweeps;
};
std::string to_json(const FacetsReply& reply);
Result<FacetsReply> parse_facets_reply(std::string_view json);

}  // namespace berth
