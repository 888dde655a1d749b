// The frame of the pages that berth writes: each is one file that needs no other.
#pragma once

#include <string>
#include <string_view>

namespace berth {

/// `body` is HTML.
std::string whole_page(std::string_view heading, std::string_view body);

/// On a narrow screen a chart or a table is moved about rather than too small to read.
std::string scrolled(std::string_view html);

}  // namespace berth
