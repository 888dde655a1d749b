// The web page's files, which are part of the program: the program needs no folder beside it.
#pragma once

#include <span>
#include <string_view>

namespace berth {

struct PageFile {
  std::string_view path;  // "/app.js"
  std::string_view type;  // "text/javascript; charset=utf-8"
  std::string_view gzip;  // its bytes, compressed
};

std::span<const PageFile> page_files();

}  // namespace berth
