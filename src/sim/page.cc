#include "sim/page.h"

#include <fmt/format.h>

#include "sim/escape.h"

namespace berth {
namespace {

constexpr std::string_view kStyle =
    "body{font:14px/1.5 sans-serif;margin:2em auto;max-width:1000px;padding:0 1em;color:#222;"
    "background:#fafafa}table{border-collapse:collapse;font-size:13px}"
    "th,td{padding:.25em .7em;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap}"
    "th:first-child,td:first-child{text-align:left;position:sticky;left:0;background:#fafafa}"
    "h1,h2{overflow-wrap:anywhere}.wide{overflow-x:auto}"
    "svg{display:block;box-sizing:border-box;width:100%;min-width:700px;height:auto;border:1px "
    "solid #ddd;margin:.4em 0}"
    "@media(prefers-color-scheme:dark){body,th:first-child,td:first-child{background:#1b1b1b}"
    "body{color:#ddd}th,td{border-color:#444}}";

}  // namespace

std::string whole_page(std::string_view heading, std::string_view body) {
  return fmt::format(
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><title>{0}</title>"
      "<style>{1}</style></head><body><h1>{0}</h1>\n{2}</body></html>\n",
      escape(heading), kStyle, body);
}

std::string scrolled(std::string_view html) {
  return fmt::format("<div class=\"wide\">{}</div>\n", html);
}

}  // namespace berth
