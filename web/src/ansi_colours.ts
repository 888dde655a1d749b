// How a style of the terminal looks on the page: in its colours, but always readable.
import type { Colour, Style } from "./ansi";

type Rgb = [red: number, green: number, blue: number];

interface Theme {
  ground: string; // as --log-ground
  text: string;
  named: string[]; // the 16 that have names: black, red, green, yellow, blue, magenta, cyan, white
}

const light: Theme = {
  ground: "#fbfcfd",
  text: "#18202b",
  named: [
    "#18202b", "#b3261e", "#1a7340", "#8a5300", "#0b5fc0", "#a3206f", "#00707f", "#6b7280",
    "#566172", "#c93a31", "#1f8049", "#8f6400", "#2b74d0", "#b23a84", "#0a7a8a", "#3f4a5a",
  ],
};

const dark: Theme = {
  ground: "#0b0f14",
  text: "#e5e9ef",
  named: [
    "#6f7b8b", "#ff8a80", "#62cf8f", "#f3b95f", "#6db3ff", "#f48fcd", "#58cbd9", "#c7cfd9",
    "#8b97a7", "#ffa69e", "#86e0ab", "#ffd08a", "#94c8ff", "#f9b1dd", "#86dfe9", "#ffffff",
  ],
};

const kContrast = 4.5; // of text, as WCAG 2 asks for

function rgb(hex: string): Rgb {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function luminance(colour: Rgb): number {
  const [red, green, blue] = colour.map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: Rgb, b: Rgb): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

function mix(from: Rgb, to: Rgb, part: number): Rgb {
  return from.map((channel, i) => Math.round(channel + (to[i]! - channel) * part)) as Rgb;
}

/// The colour, moved towards black or white as far as it takes to be read.
function readable(front: Rgb, back: Rgb): Rgb {
  const end: Rgb = luminance(back) > 0.179 ? [0, 0, 0] : [255, 255, 255];
  let part = 0;
  while (part < 1 && contrast(mix(front, end, part), back) < kContrast) {
    part += 0.1;
  }
  return mix(front, end, Math.min(part, 1));
}

export type Look = Record<string, string | number>;

function lookOf(style: Style, theme: Theme): Look {
  const pick = (colour: Colour | undefined, otherwise: string): Rgb =>
    rgb(colour === undefined ? otherwise : typeof colour === "number" ? theme.named[colour]! : colour);
  const look: Look = {};
  let front = pick(style.front, theme.text);
  let back = pick(style.back, theme.ground);
  if (style.inverse) {
    [front, back] = [back, front];
  }
  if (style.dim) {
    front = mix(front, back, 0.35);
  }
  look.color = `rgb(${readable(front, back).join(" ")})`;
  if (style.inverse || style.back !== undefined) {
    look.background = `rgb(${back.join(" ")})`;
  }
  if (style.bold) {
    look.fontWeight = 700;
  }
  if (style.italic) {
    look.fontStyle = "italic";
  }
  const lines = [style.underline && "underline", style.struck && "line-through"].filter(Boolean).join(" ");
  if (lines) {
    look.textDecoration = lines;
  }
  return look;
}

const looks = new Map<string, Look>(); // few styles, many pieces

/// For an element's style; undefined where it looks as usual.
export function look(style: Style, isDark: boolean): Look | undefined {
  const words = Object.entries(style);
  if (words.length === 0) {
    return undefined;
  }
  const key = `${isDark} ${words.join(" ")}`;
  let found = looks.get(key);
  if (!found) {
    if (looks.size > 2000) {
      looks.clear();
    }
    found = lookOf(style, isDark ? dark : light);
    looks.set(key, found);
  }
  return found;
}
