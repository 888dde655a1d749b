// The files of the web page.
#pragma once

#include <memory>

#include "api/http_server.h"

namespace berth {

/// Answers a request for a file of the page; false: it is for something else. A file is the same
/// for everybody and on no disk: it need not wait for the turn's commit.
bool serve_page(const HttpRequest& request, std::unique_ptr<Responder>& reply);

}  // namespace berth
