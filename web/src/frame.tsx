// What stands around every page: the way about, and whether what is seen is fresh.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { signOut } from "./api";
import { connection, goneSince, status } from "./live";
import { clock, count } from "./format";
import { Menu } from "./parts/menu";
import { page, route } from "./router";
import { choice, chooseTheme } from "./theme";
import { waitingStates, runningStates } from "./types";

const places = [
  { path: "", name: "Overview" },
  { path: "jobs", name: "Jobs" },
  { path: "add", name: "Add jobs" },
  { path: "timeline", name: "Timeline" },
  { path: "sweeps", name: "Sweeps" },
  { path: "whatif", name: "What if" },
  { path: "devices", name: "Devices" },
];

const connectionWords = { connecting: "connecting …", live: "live", lost: "no connection" };

function Tally({ path }: { path: string }) {
  const jobs = status.value?.jobs;
  if (path !== "jobs" || !jobs) {
    return null;
  }
  const sum = [...waitingStates, ...runningStates].reduce((total, state) => total + jobs[state], 0);
  return (
    <span class="tally">
      {count(sum)}
      <span class="hidden-text"> not ended</span>
    </span>
  );
}

function Account() {
  const told = status.value;
  return (
    <>
      {told && (
        <div class="cut" title={told.home}>
          {told.user} on {told.hostname}
        </div>
      )}
      <label>
        <span class="hidden-text">Colours</span>
        <select
          value={choice.value}
          onChange={(event) => chooseTheme(event.currentTarget.value as typeof choice.value)}
        >
          <option value="system">As the system</option>
          <option value="light">Light</option>
          <option value="dark">Dark</option>
        </select>
      </label>
      <button type="button" class="button compact" onClick={() => void signOut()}>
        Sign out
      </button>
    </>
  );
}

const narrow = matchMedia("(max-width: 800px)");
const isNarrow = signal(narrow.matches);
narrow.addEventListener("change", () => (isNarrow.value = narrow.matches));

function Foot() {
  return (
    <div class="side-foot">
      <div class="connection" role="status">
        <span class={`dot ${connection.value}`} />
        <span>{connectionWords[connection.value]}</span>
      </div>
      {isNarrow.value ? (
        <Menu name="⋯" label="Account">
          <div class="account">
            <Account />
          </div>
        </Menu>
      ) : (
        <Account />
      )}
    </div>
  );
}

/// As web/favicon.svg has it, without a request of its own.
function Mark() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#0f6fd1" />
      <path d="M9 7v18M9 17a7 5 0 0 1 14 0 7 5.500 0 0 1-14 1" fill="none" stroke="#fff" stroke-width="3.500" stroke-linecap="round" />
    </svg>
  );
}

/// What is shown is old while the daemon is gone: since when, and what to do about it.
function Gone() {
  const since = goneSince.value;
  return since === null ? null : (
    <p class="notice bad" role="alert">
      The daemon has not answered since {clock(since)}: what you see is from then, and nothing can be changed. Running jobs go
      on without it. Start it with <code>berth daemon start</code>
      {status.value && ` on ${status.value.hostname}`}; this page comes back by itself.
    </p>
  );
}

export function Frame({ children }: { children: ComponentChildren }) {
  const nav = useRef<HTMLElement>(null);
  // On a narrow screen the names of the pages scroll: the one that is shown is in sight.
  useEffect(() => {
    const item = nav.current!.querySelector<HTMLElement>("[aria-current]");
    if (item) {
      nav.current!.scrollLeft = item.offsetLeft - (nav.current!.clientWidth - item.offsetWidth) / 2;
    }
  }, [page.value]);
  // Another page begins at its top.
  const path = route.value.path.join("/");
  useEffect(() => window.scrollTo(0, 0), [path]);
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={(event) => {
        event.preventDefault();
        document.getElementById("main")!.focus();
      }}>
        To the content
      </a>
      <header class="side">
        <a class="brand" href="#/">
          <Mark />
          <span>berth</span>
          <span class="hidden-text">overview</span>
        </a>
        <nav class="nav" aria-label="Pages" ref={nav}>
          {places.map((place) => (
            <a key={place.path} href={`#/${place.path}`} aria-current={page.value === place.path ? "page" : undefined}>
              {place.name}
              <Tally path={place.path} />
            </a>
          ))}
        </nav>
        <Foot />
      </header>
      <main class="main" id="main" tabIndex={-1}>
        <Gone />
        {status.value?.paused && (
          <p class="notice" role="status">
            The scheduler is paused: nothing starts. <a href="#/devices">Devices and scheduler</a>
          </p>
        )}
        {children}
      </main>
    </div>
  );
}
