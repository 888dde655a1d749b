// Messages: the JSON of berth's interface. Clients and the daemon use the same structs and
// functions, so that each reads what the other writes. docs/openapi.yaml describes the same for all
// other programs. A message is a struct X with `std::string to_json(const X&)` and
// `Result<X> parse_x(std::string_view)`. Code that needs one family alone includes its header.
#pragma once

#include "api/json_writer.h"
#include "api/messages/charts.h"
#include "api/messages/cluster_devices.h"
#include "api/messages/command.h"
#include "api/messages/devices.h"
#include "api/messages/edit.h"
#include "api/messages/error.h"
#include "api/messages/events.h"
#include "api/messages/facets.h"
#include "api/messages/ids.h"
#include "api/messages/job.h"
#include "api/messages/login.h"
#include "api/messages/status.h"
#include "api/messages/submit.h"
