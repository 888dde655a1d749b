// The daemon's HTTP interface: requests with the session's token, and the stream of events.
import { signal } from "@preact/signals";
import type { Events, GetAnswers, PostAnswers, PostBodies } from "./types";

/// What went wrong, in words for the user.
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

// The token lies in localStorage, which belongs to this very origin; a cookie would go to every
// port of the machine, and so to servers of other users.
const kToken = "berth-token";

export const signedIn = signal(localStorage.getItem(kToken) !== null);

/// Signing in or out in one tab does so in all.
addEventListener("storage", (event) => {
  if (event.key === kToken) {
    signedIn.value = event.newValue !== null;
  }
});

function forgetToken() {
  localStorage.removeItem(kToken);
  signedIn.value = false;
}

/// Gives the one-time code of a link for a token of one's own.
export async function signIn(code: string): Promise<void> {
  const answer = await post("/v1/session", undefined, { code });
  localStorage.setItem(kToken, answer.token);
  signedIn.value = true;
}

export async function signOut(): Promise<void> {
  await post("/v1/session/end").catch(() => undefined);
  forgetToken();
}

export type Query = Record<string, string | number | boolean | string[] | undefined>;

function address(path: string, query: Query = {}): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== "" && one !== false) {
        words.append(name, one === true ? "1" : String(one));
      }
    }
  }
  const text = words.toString();
  return text === "" ? path : `${path}?${text}`;
}

async function ask(path: string, init: RequestInit & { headers?: Record<string, string> }) {
  const token = localStorage.getItem(kToken);
  const headers = { ...init.headers, ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  let response: Response;
  try {
    response = await fetch(path, { ...init, headers, cache: "no-store", credentials: "omit" });
  } catch (error) {
    if (init.signal?.aborted) {
      throw error;
    }
    throw new ApiError(0, "the daemon does not answer");
  }
  if (response.ok) {
    return response;
  }
  if (response.status === 401 && token === localStorage.getItem(kToken)) {
    forgetToken();
  }
  const body = await response.json().catch(() => null);
  throw new ApiError(response.status, body?.error?.message ?? `the daemon answers ${response.status}`);
}

/// Called with the newest event that an answer knows of.
export const answered: { tell: (event: number) => void } = { tell: () => undefined };

/// The path decides what is answered, and what a body holds.
export async function get<P extends keyof GetAnswers>(path: P, query?: Query, abort?: AbortSignal): Promise<GetAnswers[P]> {
  const response = await ask(address(path, query), { method: "GET", signal: abort });
  answered.tell(Number(response.headers.get("Berth-Event") ?? 0));
  return response.json();
}

type Body<P> = P extends keyof PostBodies ? PostBodies[P] : undefined;

export async function post<P extends keyof PostAnswers>(
  path: P,
  query?: Query,
  body?: Body<P>,
  abort?: AbortSignal,
): Promise<PostAnswers[P]> {
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  return (await ask(address(path, query), { method: "POST", signal: abort, ...text })).json();
}

/// A piece of a log: at most 256 KiB from `offset`, or the last `tail` lines.
export interface LogPiece {
  bytes: Uint8Array;
  attempt: number;
  next: number; // where to go on
  more: "now" | "later" | "no";
}

export async function readLog(job: number, query: Query, abort?: AbortSignal): Promise<LogPiece> {
  const response = await ask(address(`/v1/jobs/${job}/log`, query), { method: "GET", signal: abort });
  const number = (name: string) => Number(response.headers.get(name) ?? 0);
  return {
    bytes: new Uint8Array(await response.arrayBuffer()),
    attempt: number("Berth-Attempt"),
    next: number("Berth-Offset"),
    more: (response.headers.get("Berth-More") ?? "no") as LogPiece["more"],
  };
}

export type ServerEvent = { [Name in keyof Events]: { id: string; name: Name; data: Events[Name] } }[keyof Events];

/// Reads events until the stream ends, throws or is aborted. EventSource cannot send a token, so
/// the text is taken apart here: lines `field: value`, an empty line after each event.
export async function readEvents(
  last: string,
  tell: (event: ServerEvent) => void,
  abort: AbortSignal,
): Promise<void> {
  const headers: Record<string, string> = last ? { "Last-Event-ID": last } : {};
  const response = await ask("/v1/events", { method: "GET", headers, signal: abort });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) {
      return;
    }
    text += value;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const event = parseEvent(text.slice(0, end));
      text = text.slice(end + 2);
      if (event) {
        tell(event);
      }
    }
  }
}

function parseEvent(block: string): ServerEvent | null {
  let id = "";
  let name = "message";
  let data = "";
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    const value = line.slice(colon + 1).replace(/^ /, "");
    switch (line.slice(0, colon)) {
      case "id":
        id = value;
        break;
      case "event":
        name = value;
        break;
      case "data":
        data += value;
        break;
    }
  }
  // A later daemon may tell of more: such a name is not listened for.
  return data === "" ? null : ({ id, name, data: JSON.parse(data) } as ServerEvent);
}
