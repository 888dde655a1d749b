// The files of the web page.
#pragma once

#include <memory>

#include "api/http_server.h"

namespace berth {

/// Answers a request for a file of the page. False when the request is for something else. A file
/// is the same for every user and not on any disk, so the answer need not wait for the turn's
/// commit.
bool serve_page(const HttpRequest& request, std::unique_ptr<Responder>& reply);

}  // namespace berth
