// Reads a log as it grows: its last lines first, then what comes, while somebody looks.
import { ApiError, readLog, type LogPiece, type Query } from "./api";

export interface LogChoice {
  job: number;
  attempt: number;
  stream: "out" | "err";
  tail: number; // -1 is the whole log
}

export type LogState = "reading" | "live" | "ended" | "failed";

interface Tell {
  text: (text: string, read: number) => void; // with how many bytes of the log are behind it
  state: (state: LogState, problem?: string) => void;
}

/// Until the tab is seen: a browser has few connections, and a waiting one takes one.
function seen(abort: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!document.hidden || abort.aborted) {
        document.removeEventListener("visibilitychange", look);
        resolve();
      }
    };
    document.addEventListener("visibilitychange", look);
    abort.addEventListener("abort", look);
    look();
  });
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/// One piece; given up when the tab is hidden (null), to be asked for again.
async function piece(choice: LogChoice, query: Query, abort: AbortSignal) {
  const own = new AbortController();
  const stop = () => (document.hidden || abort.aborted) && own.abort();
  document.addEventListener("visibilitychange", stop);
  abort.addEventListener("abort", stop);
  try {
    return await readLog(choice.job, { attempt: choice.attempt, stream: choice.stream, ...query }, own.signal);
  } catch (error) {
    if (own.signal.aborted) {
      return null;
    }
    throw error;
  } finally {
    document.removeEventListener("visibilitychange", stop);
    abort.removeEventListener("abort", stop);
  }
}

const kWaiting = 3;

/// At most a few tabs wait at the daemon for more, so that connections are left for the rest: the
/// others (false) look once a second.
async function withTurn<T>(work: (mayWait: boolean) => Promise<T>): Promise<T> {
  for (let i = 0; navigator.locks && i < kWaiting; ++i) {
    const done = await navigator.locks.request(`berth-log-${i}`, { ifAvailable: true }, async (lock) =>
      lock ? { value: await work(true) } : null,
    );
    if (done) {
      return done.value;
    }
  }
  return work(!navigator.locks);
}

/// For useEffect: returns how to stop.
export function followLog(choice: LogChoice, tell: Tell): () => void {
  const stop = new AbortController();
  const decoder = new TextDecoder();
  void (async () => {
    let at: number | null = choice.tail < 0 ? 0 : null;
    let wait = false;
    while (!stop.signal.aborted) {
      await seen(stop.signal);
      try {
        const ask = (query: Query) => piece(choice, query, stop.signal);
        let read: LogPiece | null;
        if (at === null) {
          read = await ask({ tail: choice.tail });
        } else if (!wait) {
          read = await ask({ offset: at });
        } else {
          const offset: number = at;
          read = await withTurn(async (mayWait) => {
            await (mayWait || pause(1000));
            return ask({ offset, wait: mayWait });
          });
        }
        if (stop.signal.aborted) {
          return;
        }
        if (read === null) {
          continue;
        }
        tell.text(decoder.decode(read.bytes, { stream: read.more !== "no" }), read.next);
        at = read.next;
        wait = read.more === "later";
        tell.state(read.more === "now" ? "reading" : read.more === "later" ? "live" : "ended");
        if (read.more === "no") {
          return;
        }
      } catch (error) {
        tell.state("failed", (error as Error).message);
        const status = error instanceof ApiError ? error.status : 0;
        if (status >= 400 && status < 500) {
          return; // a plain no, not a lost connection
        }
        await pause(1000);
      }
    }
  })();
  return () => stop.abort();
}

/// The whole log as a file. What a running job writes meanwhile is left out.
export async function downloadLog(choice: LogChoice, name: string, progress: (bytes: number) => void): Promise<void> {
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (;;) {
    const { attempt, stream } = choice;
    const read = await readLog(choice.job, { attempt, stream, offset: at });
    pieces.push(read.bytes);
    at = read.next;
    progress(at);
    if (read.more !== "now") {
      break;
    }
  }
  const address = URL.createObjectURL(new Blob(pieces as BlobPart[], { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
