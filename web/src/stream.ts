// The daemon's events, read once for all tabs: a browser allows six connections to a server, and a
// stream in each of many windows would leave none for anything else. The tab that holds the lock
// reads them and passes them on; when it is closed or hidden, the next one takes over.
import { ApiError, readEvents, type ServerEvent } from "./api";

export interface Hearer {
  live: () => void;
  lost: () => void;
  event: (event: ServerEvent) => void;
}

const kAll = "berth-events";
const kAsk = "is it live?";

/// From the tab that reads: an event, or how it stands and the last event that was told.
type Told = { event: ServerEvent } | { live: boolean; last: string };

let last = ""; // what this tab has heard or read; from there it goes on

/// What the page has read knows of all events up to this one: the first answer says so.
export function listenFrom(event: number) {
  last ||= event > 0 ? String(event) : "";
}

/// Until it is aborted.
export function hear(hearer: Hearer, abort: AbortSignal) {
  // Only pages of this machine or by https have locks: elsewhere each tab reads for itself.
  if (!navigator.locks) {
    void read(hearer, abort);
    return;
  }
  const channel = new BroadcastChannel(kAll);
  abort.addEventListener("abort", () => channel.close());
  const tell = (told: Told) => abort.aborted || channel.postMessage(told);
  let reads = false;
  let live: boolean | null = null; // not known
  const set = (now: boolean) => {
    const changed = live !== now;
    live = now;
    if (changed) {
      (now ? hearer.live : hearer.lost)();
    }
  };

  channel.onmessage = ({ data }: MessageEvent<Told | typeof kAsk>) => {
    if (data === kAsk) {
      if (reads && live !== null) {
        tell({ live, last });
      }
    } else if (reads) {
      // A late word of the tab that read before.
    } else if ("event" in data) {
      // Before this tab knows how it stands, it has nothing to add events to.
      if (live) {
        last = data.event.id || last;
        hearer.event(data.event);
      }
    } else {
      const missed = data.live && !live && data.last !== last;
      set(data.live);
      if (missed) {
        last = data.last;
        hearer.event({ id: last, name: "reset", data: {} });
      }
    }
  };
  channel.postMessage(kAsk);

  const forAll: Hearer = {
    live() {
      tell({ live: true, last });
      set(true);
    },
    lost() {
      tell({ live: false, last });
      set(false);
    },
    event(event) {
      tell({ event });
      hearer.event(event);
    },
  };
  const lead = () => {
    reads = true;
    return read(forAll, abort);
  };
  // Whoever is aborted while it waits for the lock needs none.
  navigator.locks.request(kAll, { signal: abort }, lead).catch(() => undefined);
}

async function read(hearer: Hearer, abort: AbortSignal) {
  let wait = 250;
  while (!abort.aborted) {
    // Beats come every second; without any for long, the connection is dead though nobody said so.
    const attempt = new AbortController();
    const stop = () => attempt.abort();
    abort.addEventListener("abort", stop);
    let quiet = window.setTimeout(stop, 20_000);
    let open = false;
    const take = (event: ServerEvent) => {
      clearTimeout(quiet);
      quiet = window.setTimeout(stop, 20_000);
      if (!open) {
        open = true;
        wait = 250;
        hearer.live();
      }
      last = event.id || last;
      hearer.event(event);
    };
    try {
      await readEvents(last, take, attempt.signal);
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) {
        return;
      }
    } finally {
      clearTimeout(quiet);
      abort.removeEventListener("abort", stop);
    }
    if (!abort.aborted) {
      hearer.lost();
      await new Promise((resolve) => setTimeout(resolve, wait));
      wait = Math.min(wait * 2, 4000);
    }
  }
}
