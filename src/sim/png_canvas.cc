// The pixels are drawn here, packed by zlib; the letters are a font of three by five dots.
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "sim/canvas.h"

namespace berth {
namespace {

constexpr int kDot = 2;  // pixels to a dot of a letter
constexpr int kLetterWidth = 4 * kDot;

/// Fifteen dots, row by row, the first the highest bit. Capitals look like small letters.
struct Glyph {
  char letter;
  std::uint16_t dots;
};
constexpr std::array kFont = {
    Glyph{'0', 0x7b6f}, Glyph{'1', 0x2c97}, Glyph{'2', 0x73e7}, Glyph{'3', 0x73cf},
    Glyph{'4', 0x5bc9}, Glyph{'5', 0x79cf}, Glyph{'6', 0x79ef}, Glyph{'7', 0x7292},
    Glyph{'8', 0x7bef}, Glyph{'9', 0x7bcf}, Glyph{'a', 0x2bed}, Glyph{'b', 0x6bae},
    Glyph{'c', 0x3923}, Glyph{'d', 0x6b6e}, Glyph{'e', 0x79a7}, Glyph{'f', 0x79a4},
    Glyph{'g', 0x396b}, Glyph{'h', 0x5bed}, Glyph{'i', 0x7497}, Glyph{'j', 0x126a},
    Glyph{'k', 0x5bad}, Glyph{'l', 0x4927}, Glyph{'m', 0x5fed}, Glyph{'n', 0x6b6d},
    Glyph{'o', 0x2b6a}, Glyph{'p', 0x6ba4}, Glyph{'q', 0x2b51}, Glyph{'r', 0x6bad},
    Glyph{'s', 0x388e}, Glyph{'t', 0x7492}, Glyph{'u', 0x5b6f}, Glyph{'v', 0x5b6a},
    Glyph{'w', 0x5bfd}, Glyph{'x', 0x5aad}, Glyph{'y', 0x5a92}, Glyph{'z', 0x72a7},
    Glyph{'.', 0x0002}, Glyph{',', 0x0014}, Glyph{':', 0x0410}, Glyph{'-', 0x01c0},
    Glyph{'+', 0x05d0}, Glyph{'%', 0x52a5}, Glyph{'/', 0x12a4}, Glyph{'(', 0x2922},
    Glyph{')', 0x224a}, Glyph{'=', 0x0e38}};

std::uint16_t dots_of(char letter) {
  if (letter >= 'A' && letter <= 'Z') {
    letter = static_cast<char>(letter - 'A' + 'a');
  }
  for (const Glyph& glyph : kFont) {
    if (glyph.letter == letter) {
      return glyph.dots;
    }
  }
  return 0;
}

void append_number(std::string& text, std::uint32_t number) {
  for (const int shift : {24, 16, 8, 0}) {
    text += static_cast<char>(number >> shift);
  }
}

void append_chunk(std::string& file, std::string_view kind, std::string_view data) {
  append_number(file, static_cast<std::uint32_t>(data.size()));
  const std::string body = std::string(kind) + std::string(data);
  file += body;
  append_number(file,
                static_cast<std::uint32_t>(::crc32(0, reinterpret_cast<const Bytef*>(body.data()),
                                                   static_cast<uInt>(body.size()))));
}

class PngCanvas final : public Canvas {
 public:
  PngCanvas(int width, int height)
      : width_(width),
        height_(height),
        pixels_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height),
                Colour3{255, 255, 255}) {}

  void rect(Point corner, double width, double height, Colour3 fill, std::string_view) override {
    const int left = round(corner.x);
    const int top = round(corner.y);
    // What is there can be seen, however thin it is.
    const int right = std::max(left + 1, round(corner.x + width));
    const int bottom = std::max(top + 1, round(corner.y + height));
    for (int y = std::max(top, 0); y < std::min(bottom, height_); ++y) {
      for (int x = std::max(left, 0); x < std::min(right, width_); ++x) {
        set(x, y, fill);
      }
    }
  }

  void path(const std::vector<Point>& points, Colour3 stroke) override {
    for (std::size_t i = 1; i < points.size(); ++i) {
      const double steps = std::max(
          {std::abs(points[i].x - points[i - 1].x), std::abs(points[i].y - points[i - 1].y), 1.0});
      for (double step = 0; step <= steps; ++step) {
        const double part = step / steps;
        set(round(points[i - 1].x + part * (points[i].x - points[i - 1].x)),
            round(points[i - 1].y + part * (points[i].y - points[i - 1].y)), stroke);
      }
    }
  }

  void text(Point at, std::string_view words, Anchor anchor) override {
    const int length = static_cast<int>(words.size()) * kLetterWidth;
    int x = round(at.x) - (anchor == Anchor::Middle ? length / 2
                           : anchor == Anchor::End  ? length
                                                    : 0);
    const int top = round(at.y) - 5 * kDot;
    for (const char letter : words) {
      const std::uint16_t dots = dots_of(letter);
      for (int dot = 0; dot < 15; ++dot) {
        if ((dots >> (14 - dot) & 1) != 0) {
          rect({static_cast<double>(x + dot % 3 * kDot), static_cast<double>(top + dot / 3 * kDot)},
               kDot, kDot, {51, 51, 51}, {});
        }
      }
      x += kLetterWidth;
    }
  }

  std::string finish() override {
    std::string rows;
    for (int y = 0; y < height_; ++y) {
      rows += '\0';  // no filter
      for (int x = 0; x < width_; ++x) {
        const Colour3& pixel = pixels_[index(x, y)];
        rows += static_cast<char>(pixel.red);
        rows += static_cast<char>(pixel.green);
        rows += static_cast<char>(pixel.blue);
      }
    }
    uLongf packed_size = ::compressBound(static_cast<uLong>(rows.size()));
    std::string packed(packed_size, '\0');
    BERTH_CHECK(::compress(reinterpret_cast<Bytef*>(packed.data()), &packed_size,
                           reinterpret_cast<const Bytef*>(rows.data()),
                           static_cast<uLong>(rows.size())) == Z_OK);
    packed.resize(packed_size);
    std::string header;
    append_number(header, static_cast<std::uint32_t>(width_));
    append_number(header, static_cast<std::uint32_t>(height_));
    header += std::string("\x08\x02\x00\x00\x00", 5);  // eight bits of red, green and blue
    std::string file = "\x89PNG\r\n\x1a\n";
    append_chunk(file, "IHDR", header);
    append_chunk(file, "IDAT", packed);
    append_chunk(file, "IEND", "");
    return file;
  }

 private:
  static int round(double value) { return static_cast<int>(std::lround(value)); }
  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
           static_cast<std::size_t>(x);
  }
  void set(int x, int y, Colour3 colour) {
    if (x >= 0 && x < width_ && y >= 0 && y < height_) {
      pixels_[index(x, y)] = colour;
    }
  }

  int width_;
  int height_;
  std::vector<Colour3> pixels_;
};

}  // namespace

std::unique_ptr<Canvas> make_png_canvas(int width, int height) {
  return std::make_unique<PngCanvas>(width, height);
}

}  // namespace berth
