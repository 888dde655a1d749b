// Where the user is: the part of the address behind `#`, so that the server has one page to serve
// and a link keeps the view.
import { computed, signal } from "@preact/signals";

export interface Route {
  path: string[]; // "jobs", "12"
  query: URLSearchParams;
}

/// A `%` that nobody encoded stands for itself.
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  return {
    path: path.split("/").filter(Boolean).map(decode),
    query: new URLSearchParams(query),
  };
}

export const route = signal<Route>(parse(location.hash));
export const page = computed(() => route.value.path[0] ?? "");

addEventListener("hashchange", () => {
  route.value = parse(location.hash);
});

/// `link("jobs", 12)` is "#/jobs/12"; parameters that are empty are left out.
export function link(path: (string | number)[], query: Record<string, string> = {}): string {
  const words = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ""));
  const text = words.toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

export function go(hash: string) {
  location.hash = hash;
}

/// Changes the view without a new entry in the browser's history: typing is not navigating.
export function setQuery(changes: Record<string, string>) {
  const query = Object.fromEntries(route.value.query);
  replace(link(route.value.path, { ...query, ...changes }));
}

export function replace(hash: string) {
  history.replaceState(null, "", hash);
  route.value = parse(hash);
}
