// The one unit that includes Beast: it takes 16 s to compile.
#include "api/request_reader.h"

#include <algorithm>
#include <utility>
//
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <limits>
#include <optional>

#include "api/gzip.h"
#include "api/http_text.h"

namespace berth {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;
using Text = boost::beast::string_view;

/// A body's claimed length is believed so far; beyond that the memory follows the bytes.
constexpr std::uint64_t kReserve = 1024 * 1024;

std::string_view view(Text text) { return {text.data(), text.size()}; }

/// Keeps the few fields that matter instead of a table of all.
class Parser : public http::basic_parser<true> {
 public:
  RequestHead head;
  std::string body;

 private:
  void on_request_impl(http::verb, Text method, Text target, int, error_code&) override {
    head.method = view(method);
    head.target = view(target);
  }
  void on_response_impl(int, Text, int, error_code&) override {}

  void on_field_impl(http::field name, Text spelled, Text value, error_code& error) override {
    if (is_header_done()) {
      return;  // a trailer, which changes nothing that has been looked at
    }
    switch (name) {
      case http::field::host:
        keep(head.host, has_host_, value, error);
        break;
      case http::field::origin:
        keep(head.origin, head.has_origin, value, error);
        break;
      case http::field::authorization:
        keep(head.authorization, has_authorization_, value, error);
        break;
      case http::field::if_none_match:
        head.if_none_match = view(value);
        break;
      case http::field::accept_encoding:
        head.accepts_gzip = head.accepts_gzip || accepts_gzip(view(value));
        break;
      case http::field::expect:
        head.expects_continue = equal_ignoring_case(view(value), "100-continue");
        break;
      case http::field::transfer_encoding:
        // Beast reads another coding as no body at all, and the body as the next request.
        if (!equal_ignoring_case(view(value), "chunked")) {
          error = http::error::bad_transfer_encoding;
        }
        break;
      default:
        if (equal_ignoring_case(view(spelled), "last-event-id")) {
          head.last_event_id = view(value);
        }
        break;
    }
  }

  /// Said twice, what decides about access could be read in two ways.
  static void keep(std::string& place, bool& seen, Text value, error_code& error) {
    if (std::exchange(seen, true)) {
      error = http::error::bad_field;
    }
    place = view(value);
  }

  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, error_code&) override {
    body.reserve(static_cast<std::size_t>(std::min(length.value_or(0), kReserve)));
  }
  std::size_t on_body_impl(Text part, error_code&) override {
    body.append(part.data(), part.size());
    return part.size();
  }
  void on_chunk_header_impl(std::uint64_t, Text, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text part, error_code&) override {
    body.append(part.data(), part.size());
    return part.size();
  }
  void on_finish_impl(error_code&) override {}

  bool has_host_ = false;
  bool has_authorization_ = false;
};

}  // namespace

struct RequestReader::Impl {
  explicit Impl(Limits wanted) : limits(wanted) { restart(); }

  void restart() {
    parser.emplace();
    parser->header_limit(static_cast<std::uint32_t>(
        std::min<std::size_t>(limits.header_bytes, std::numeric_limits<std::uint32_t>::max() / 2)));
    parser->body_limit(limits.body_bytes);
    body_bytes = limits.body_bytes;
    head_bytes = 0;
    head_told = false;
    started = false;
  }

  Step fail(int with) {
    status = with;
    return Step::Failed;
  }

  Limits limits;
  std::optional<Parser> parser;
  std::size_t head_bytes = 0;
  std::size_t body_bytes = 0;  // at most
  bool head_told = false;
  bool started = false;
  int status = 0;
};

RequestReader::RequestReader(Limits limits) : impl_(std::make_unique<Impl>(limits)) {}
RequestReader::~RequestReader() = default;

RequestReader::Step RequestReader::read(std::string_view& input) {
  Parser& parser = *impl_->parser;
  for (;;) {
    if (impl_->status != 0) {
      return Step::Failed;
    }
    if (parser.is_header_done() && !std::exchange(impl_->head_told, true)) {
      parser.head.keep_alive = parser.keep_alive();
      return Step::Head;
    }
    if (parser.is_done()) {
      return Step::Done;
    }
    if (input.empty()) {
      return Step::NeedMore;
    }
    impl_->started = true;
    const bool in_head = !parser.is_header_done();
    error_code error;
    const std::size_t used = parser.put({input.data(), input.size()}, error);
    input.remove_prefix(used);
    // Beast limits each piece of a header that arrives, not their sum.
    impl_->head_bytes += in_head ? used : 0;
    if (error == http::error::header_limit || impl_->head_bytes > impl_->limits.header_bytes) {
      return impl_->fail(431);
    }
    // Beast holds a length that was announced against its limit when it reads the head, not later.
    if (error == http::error::body_limit || parser.body.size() > impl_->body_bytes) {
      return impl_->fail(413);
    }
    if (error == http::error::need_more) {
      // A line that does not end: of a chunk's header or of a trailer.
      return input.size() > impl_->limits.header_bytes ? impl_->fail(431) : Step::NeedMore;
    }
    if (error) {
      return impl_->fail(400);
    }
  }
}

void RequestReader::limit_body(std::size_t bytes) {
  impl_->body_bytes = std::min(bytes, impl_->limits.body_bytes);
}
RequestHead& RequestReader::head() { return impl_->parser->head; }
std::string& RequestReader::body() { return impl_->parser->body; }
std::size_t RequestReader::body_size() const { return impl_->parser->body.size(); }
int RequestReader::status() const { return impl_->status; }
bool RequestReader::started() const { return impl_->started; }
void RequestReader::reset() { impl_->restart(); }

}  // namespace berth
