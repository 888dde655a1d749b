// Chromium writes pictures quickly, not small. A page has few colours but for the edges of its letters:
// 256 do, and what is left takes the nearest of them.
"use strict";
const zlib = require("node:zlib");

function chunks(png) {
  const found = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    found.push({ name: png.toString("latin1", at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return found;
}

function chunk(name, data) {
  const out = Buffer.alloc(data.length + 12);
  out.writeUInt32BE(data.length, 0);
  out.write(name, 4, "latin1");
  data.copy(out, 8);
  out.writeUInt32BE(crc(out.subarray(4, data.length + 8)), data.length + 8);
  return out;
}

function crc(bytes) {
  let value = 0xffffffff;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit += 1) {
      value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0);
    }
  }
  return (value ^ 0xffffffff) >>> 0;
}

function paeth(left, up, corner) {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

/// Takes the filters of the rows back, in place; each row keeps its first byte, for none.
function unfilter(rows, stride, pixel) {
  for (let start = 0; start < rows.length; start += stride) {
    const filter = rows[start];
    rows[start] = 0;
    for (let at = start + 1; at < start + stride; at += 1) {
      const left = at - pixel > start ? rows[at - pixel] : 0;
      const up = start > 0 ? rows[at - stride] : 0;
      const corner = start > 0 && at - pixel > start ? rows[at - stride - pixel] : 0;
      rows[at] += [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
    }
  }
}

const distance = (a, b) => ((a >> 16) - (b >> 16)) ** 2 + (((a >> 8) & 255) - ((b >> 8) & 255)) ** 2 + ((a & 255) - (b & 255)) ** 2;

/// The most frequent, and then whichever would be the worst to leave out.
function choosePalette(rows, stride, pixel) {
  const counts = new Map();
  eachPixel(rows, stride, pixel, (colour) => counts.set(colour, (counts.get(colour) ?? 0) + 1));
  const rest = [...counts].sort((a, b) => b[1] - a[1]).map(([colour, count]) => ({ colour, count, far: Infinity }));
  const palette = [];
  const take = (place) => {
    const [{ colour }] = rest.splice(place, 1);
    palette.push(colour);
    rest.forEach((one) => (one.far = Math.min(one.far, distance(one.colour, colour))));
  };
  while (palette.length < 100 && rest.length > 0) {
    take(0);
  }
  while (palette.length < 256 && rest.length > 0) {
    take(rest.reduce((worst, one, place) => (one.far * one.count > rest[worst].far * rest[worst].count ? place : worst), 0));
  }
  return palette;
}

function eachPixel(rows, stride, pixel, tell) {
  for (let start = 0; start < rows.length; start += stride) {
    for (let at = start + 1; at < start + stride; at += pixel) {
      tell(rows.readUIntBE(at, 3));
    }
  }
}

/// Of a PNG with 8 bits a channel, as browsers make them.
exports.smaller = (png) => {
  const all = chunks(png);
  const head = Buffer.from(all.find(({ name }) => name === "IHDR").data);
  const [width, height, pixel] = [head.readUInt32BE(0), head.readUInt32BE(4), head[9] === 6 ? 4 : 3];
  const stride = width * pixel + 1;
  const rows = zlib.inflateSync(Buffer.concat(all.filter(({ name }) => name === "IDAT").map(({ data }) => data)));
  unfilter(rows, stride, pixel);

  const palette = choosePalette(rows, stride, pixel);
  const places = new Map(palette.map((colour, place) => [colour, place]));
  const nearest = (colour) =>
    palette.reduce((best, one, place) => (distance(one, colour) < distance(palette[best], colour) ? place : best), 0);
  const packed = Buffer.alloc((width + 1) * height); // each row begins with its filter, which is none
  let at = 0;
  eachPixel(rows, stride, pixel, (colour) => {
    if (!places.has(colour)) {
      places.set(colour, nearest(colour));
    }
    at += at % (width + 1) === 0 ? 1 : 0;
    packed[at] = places.get(colour);
    at += 1;
  });
  head[9] = 3; // colours by their place in the palette
  return Buffer.concat([
    png.subarray(0, 8),
    chunk("IHDR", head),
    chunk("PLTE", Buffer.concat(palette.map((colour) => Buffer.from([colour >> 16, (colour >> 8) & 255, colour & 255])))),
    chunk("IDAT", zlib.deflateSync(packed, { level: 9, memLevel: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
};
