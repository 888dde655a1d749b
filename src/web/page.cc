#include "web/page.h"

#include <array>

// The assembler reads the files: a megabyte of numbers would take the compiler seconds. This file
// is compiled without ccache, which would not notice that what it reads has changed.
#define BERTH_PAGE_FILE(symbol, name)                                              \
  asm(".section .rodata\n" #symbol "_begin:\n.incbin \"" BERTH_WEB_FOLDER "/" name \
      ".gz\"\n" #symbol "_end:\n.byte 0\n.previous\n");                            \
  extern "C" {                                                                     \
  extern const char symbol##_begin[];                                              \
  extern const char symbol##_end[];                                                \
  }

BERTH_PAGE_FILE(berth_index_html, "index.html")
BERTH_PAGE_FILE(berth_app_js, "app.js")
BERTH_PAGE_FILE(berth_app_css, "app.css")
BERTH_PAGE_FILE(berth_favicon_svg, "favicon.svg")

namespace berth {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::span<const PageFile> page_files() {
  static const std::array files = {
      PageFile{"/", "text/html; charset=utf-8",
               between(berth_index_html_begin, berth_index_html_end)},
      PageFile{"/app.js", "text/javascript; charset=utf-8",
               between(berth_app_js_begin, berth_app_js_end)},
      PageFile{"/app.css", "text/css; charset=utf-8",
               between(berth_app_css_begin, berth_app_css_end)},
      PageFile{"/favicon.svg", "image/svg+xml",
               between(berth_favicon_svg_begin, berth_favicon_svg_end)},
  };
  return files;
}

}  // namespace berth
