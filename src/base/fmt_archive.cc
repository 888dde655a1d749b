// fmt's compiled part, once, inside berth. Debian ships it only as a shared library, and that one
// drags the shared libstdc++ along: half a millisecond of dynamic linking in every client call.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

// Templates that format.h declares extern; format-inl.h defines but does not instantiate them.
template auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;
template void buffer<char>::append(const char*, const char*);
template void vformat_to(buffer<char>&, string_view, basic_format_args<FMT_BUFFER_CONTEXT(char)>,
                         locale_ref);

}  // namespace detail
FMT_END_NAMESPACE
