// What is known of the daemon and kept fresh by its events. A hidden tab hears none and catches up
// when it is seen again.
import { batch, effect, signal } from "@preact/signals";
import { answered, get, signedIn, type ServerEvent } from "./api";
import { forgetKnown, knownJob, takeTold } from "./known_jobs";
import { hear, listenFrom } from "./stream";
import type { Device, DeviceList, Job, NewJobs, Status } from "./types";

export type Connection = "connecting" | "live" | "lost";

export const connection = signal<Connection>("connecting");
/// When the daemon was last heard, while it is gone; then nothing can be done, and clocks stand still.
export const goneSince = signal<number | null>(null);
export const status = signal<Status | null>(null);
export const devices = signal<Device[]>([]);
export const sources = signal<string[]>([]);
/// The last ten minutes of each device, by name.
export const histories = signal<Map<string, DeviceSeries>>(new Map());
/// Seconds since 1970, once a second, for what counts up or down on the screen.
export const now = signal(Date.now() / 1000);

export interface DeviceSeries {
  times: number[];
  utilization: (number | null)[];
  used: (number | null)[];
  power: (number | null)[];
}

// --- who wants to hear what

export interface Listener {
  job?: (job: Job, before: Job | undefined) => void;
  submitted?: (jobs: NewJobs) => void;
  /// Everything is to be read (anew): at the start, after `reset`, and after jobs were forgotten.
  refresh?: () => void;
}

const listeners = new Set<Listener>();

/// For useEffect: returns how to stop. `refresh` is called at once. What is read before the stream of
/// events is open is not read again: the stream begins with what has changed since.
export function listen(listener: Listener): () => void {
  listeners.add(listener);
  listener.refresh?.();
  return () => listeners.delete(listener);
}

function refreshAll() {
  for (const listener of listeners) {
    listener.refresh?.();
  }
}

let heard = Date.now() / 1000;

function take(event: ServerEvent) {
  heard = Date.now() / 1000;
  switch (event.name) {
    case "reset":
    case "forgotten":
      forgetKnown();
      refreshAll();
      refreshStatus();
      break;
    case "job": {
      const job = event.data;
      const before = knownJob(job.id);
      takeTold(job);
      for (const listener of listeners) {
        listener.job?.(job, before);
      }
      refreshStatus();
      break;
    }
    case "submitted":
      for (const listener of listeners) {
        listener.submitted?.(event.data);
      }
      refreshStatus();
      break;
    case "daemon":
    case "device":
      refreshStatus();
      break;
    case "devices":
      takeDevices(event.data);
      break;
  }
}

// --- the daemon itself

let statusAsked = false; // an answer is to come
let statusChanged = false; // but may be old by then

/// Counts change with every job: read at most a few times a second. One at a time: of two answers
/// the older one may come last.
export function refreshStatus(wait = 60) {
  statusChanged = true;
  if (statusAsked) {
    return;
  }
  statusAsked = true;
  setTimeout(async () => {
    statusChanged = false;
    try {
      status.value = await get("/v1/status");
    } catch {
      // The stream tells when the daemon is gone.
    }
    statusAsked = false;
    if (statusChanged) {
      refreshStatus();
    }
  }, wait);
}

function takeDevices(list: DeviceList) {
  const time = Date.now() / 1000;
  const next = new Map(histories.value);
  for (const device of list.devices) {
    const series = next.get(device.name) ?? { times: [], utilization: [], used: [], power: [] };
    const drop = series.times.findIndex((at) => at > time - 600);
    const after = <T>(values: T[], value: T) => [...values.slice(Math.max(drop, 0)), value];
    next.set(device.name, {
      times: after(series.times, time),
      utilization: after(series.utilization, device.utilization_percent ?? null),
      used: after(series.used, device.used_bytes ?? null),
      power: after(series.power, device.power_w ?? null),
    });
  }
  batch(() => {
    devices.value = list.devices;
    sources.value = list.sources;
    histories.value = next;
  });
}

async function readDevices() {
  takeDevices(await get("/v1/devices"));
  const history = await get("/v1/devices/history");
  histories.value = new Map(
    history.devices.map((device) => [
      device.name,
      {
        times: device.used_bytes.map((_, i) => history.from + i * history.interval_s),
        utilization: device.utilization_percent,
        used: device.used_bytes,
        power: device.power_w,
      },
    ]),
  );
}

async function readDaemon() {
  refreshStatus(0);
  await readDevices().catch(() => undefined); // the stream tells when the daemon is gone
}

// --- the stream

const hearer = {
  live() {
    if (goneSince.value !== null) {
      void readDaemon();
    }
    batch(() => {
      connection.value = "live";
      goneSince.value = null;
      now.value = Date.now() / 1000;
    });
  },
  lost() {
    batch(() => {
      connection.value = "lost";
      goneSince.value ??= heard;
    });
  },
  event: take,
};

/// Asks before it listens, so that the first view need not wait for the stream. The stream begins where
/// the first answer ends; should another answer be older than that, everything is read anew.
async function readThenHear(abort: AbortSignal) {
  let first: number | null = null;
  const hearFrom = (event: number) => {
    if (first === null && !abort.aborted) {
      first = event;
      listenFrom(event);
      hear(hearer, abort);
    }
  };
  answered.tell = (event) => {
    hearFrom(event);
    if (first !== null && event < first) {
      first = event;
      refreshAll();
    }
  };
  await readDaemon();
  hearFrom(0); // there was no answer: the stream waits until the daemon is back
}

/// Called once, when the page is there.
export function begin() {
  const visible = signal(!document.hidden);
  document.addEventListener("visibilitychange", () => {
    visible.value = !document.hidden;
  });
  setInterval(() => {
    if (visible.value && goneSince.value === null) {
      now.value = Date.now() / 1000;
    }
  }, 1000);
  effect(() => {
    if (signedIn.value && visible.value) {
      const stop = new AbortController();
      connection.value = "connecting";
      void readThenHear(stop.signal);
      return () => stop.abort();
    }
    return undefined;
  });
}
