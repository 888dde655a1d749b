// Devices over time: what ran, what runs and what is expected to. The address keeps the view.
import { useEffect, useRef, useState } from "preact/hooks";
import { get } from "../api";
import { clock, several } from "../format";
import { devices, now } from "../live";
import { Segments } from "../parts/fields";
import type { View } from "../parts/gantt";
import { zoomed } from "../parts/gantt_moves";
import { route, setQuery } from "../router";
import { useTitle } from "../title";
import { dark } from "../theme";
import type { Span } from "../types";
import { TimelineChart } from "./timeline_chart";
import { colourings, legendOf, type ColourBy } from "./timeline_colours";
import { followSpans, type SpanStore } from "./timeline_spans";
import { TimelineTable } from "./timeline_table";

const kPast = 0.7; // of the width, where the present is in view
const kLeast = 60; // seconds that are shown, however little there is
const kLately = 86400; // what is older is left out while there is something newer

const lengths = [
  { name: "1 h", seconds: 3600 },
  { name: "6 h", seconds: 6 * 3600 },
  { name: "1 d", seconds: 86400 },
  { name: "7 d", seconds: 7 * 86400 },
];

function around(time: number, length: number): View {
  return { from: time - kPast * length, to: time + (1 - kPast) * length };
}

/// From the first attempt of the last day to the present; where that is empty, from the first there is.
function fitted(spans: Span[], time: number): View {
  const past = spans.filter((span) => span.state !== "expected");
  const lately = past.filter((span) => (span.to ?? time) > time - kLately);
  const begin = Math.min(...(lately.length > 0 ? lately : past).map((span) => span.from));
  if (!Number.isFinite(begin)) {
    return { from: time - 3600, to: time };
  }
  const from = lately.length > 0 ? Math.max(begin, time - kLately) : begin;
  return { from: Math.min(from, time - kLeast), to: time };
}

/// A place in time, a length that goes with the present, or (without either) what there is.
type Chosen = { view: View } | { length: number | null };

function chosenIn(query: URLSearchParams): Chosen {
  const [from, to] = [Number(query.get("from")), Number(query.get("to"))];
  if (to > from && from > 0) {
    return { view: { from, to } };
  }
  return { length: Number(query.get("span")) || null };
}

function write(chosen: Chosen) {
  if ("view" in chosen) {
    const text = (time: number) => String(Math.round(time * 10) / 10);
    setQuery({ from: text(chosen.view.from), to: text(chosen.view.to), span: "" });
  } else {
    setQuery({ from: "", to: "", span: String(chosen.length ?? "") });
  }
}

function Legend({ spans, by, users }: { spans: Span[]; by: ColourBy; users: Map<number, string> }) {
  return (
    <ul class="legend" aria-label="Colours">
      {legendOf(spans, by, dark.value, users).map((entry) => (
        <li key={entry.name}>
          <span class="swatch" style={{ background: entry.colour }} />
          <bdi class="cut">{entry.name}</bdi>
        </li>
      ))}
    </ul>
  );
}

export function TimelinePage() {
  useTitle("Timeline");
  const query = route.value.query;
  const [chosen, setChosen] = useState<Chosen>(() => chosenIn(query));
  const [version, setVersion] = useState(0);
  const [users, setUsers] = useState(new Map<number, string>());
  const store = useRef<SpanStore | null>(null);
  const by = (colourings.find((one) => one.value === query.get("colour"))?.value ?? "state") as ColourBy;
  const asTable = query.get("table") === "1";
  const time = now.value;
  const spans = store.current?.spans ?? [];
  const ready = store.current?.ready ?? false;
  const fits = "length" in chosen && chosen.length === null;
  const view = "view" in chosen ? chosen.view : chosen.length === null ? fitted(spans, time) : around(time, chosen.length);

  useEffect(() => {
    let frame = 0;
    // Events may come by the hundred: one rendering per frame.
    const followed = followSpans(() => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        setVersion((before) => before + 1);
      });
    });
    store.current = followed;
    get("/v1/facets")
      .then((facets) => setUsers(new Map(facets.users.map((user) => [user.uid, user.name]))))
      .catch(() => undefined); // numbers do, too
    return () => {
      cancelAnimationFrame(frame);
      followed.stop();
    };
  }, []);
  // To fit what there is, that has to be known first.
  useEffect(() => store.current!.show(fits ? null : view), [fits, view.from, view.to]);

  // Moving is many small steps: the address is written when they are over.
  const timer = useRef(0);
  const written = useRef(query.toString());
  const move = (next: Chosen) => {
    setChosen(next);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => {
      write(next);
      written.current = route.value.query.toString();
    }, 250);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    if (query.toString() !== written.current) {
      written.current = query.toString();
      setChosen(chosenIn(query));
    }
  }, [query]);

  const length = view.to - view.from;
  const zoom = (factor: number) => {
    // While it goes with the present it stays with it.
    move("view" in chosen ? { view: zoomed(view, factor, (view.from + view.to) / 2) } : { length: length * factor });
  };
  const inView = spans.filter((span) => span.from <= view.to && (span.to ?? time) >= view.from);
  const ahead = spans.filter((span) => span.state === "expected").length;
  const names = devices.value.filter((device) => device.health !== "removed").map((device) => device.name);

  return (
    <>
      <div class="page-head">
        <h1>Timeline</h1>
        <div class="row push">
          <Segments
            label="Colour by"
            value={by}
            set={(value) => {
              setQuery({ colour: value === "state" ? "" : value });
              written.current = route.value.query.toString();
            }}
            options={colourings}
          />
          <div class="row joined" role="group" aria-label="Length">
            <button type="button" class="button compact" aria-pressed={fits} onClick={() => move({ length: null })}>
              Fit
            </button>
            {lengths.map((one) => (
              <button
                key={one.name}
                type="button"
                class="button compact"
                aria-pressed={"length" in chosen && chosen.length === one.seconds}
                onClick={() => move({ length: one.seconds })}
              >
                {one.name}
              </button>
            ))}
          </div>
          <div class="row joined">
            <button type="button" class="button compact" aria-label="Zoom in" onClick={() => zoom(0.6)}>
              +
            </button>
            <button type="button" class="button compact" aria-label="Zoom out" onClick={() => zoom(1 / 0.6)}>
              −
            </button>
            <button type="button" class="button compact" disabled={"length" in chosen} onClick={() => move({ length })}>
              Now
            </button>
          </div>
          <button
            type="button"
            class="button compact"
            aria-pressed={asTable}
            onClick={() => {
              setQuery({ table: asTable ? "" : "1" });
              written.current = route.value.query.toString();
            }}
          >
            As a table
          </button>
        </div>
      </div>
      <section class="card gantt-card" data-version={version}>
        {asTable ? (
          <TimelineTable spans={inView} now={time} ready={ready} />
        ) : (
          <TimelineChart
            spans={spans}
            devices={names}
            by={by}
            dark={dark.value}
            now={time}
            view={view}
            move={(next) => move({ view: next })}
            toNow={() => move({ length: fits ? null : length })}
          />
        )}
      </section>
      <div class="gantt-foot">
        <span class="muted small">
          {clock(view.from, time)} – {clock(view.to, time)}
          {ready ? "" : " · reading …"}
        </span>
        <Legend spans={inView} by={by} users={users} />
      </div>
      {fits && ahead > 0 && (
        <p class="muted small">
          {several(ahead, "job")} {ahead === 1 ? "is" : "are"} expected to start later: choose a length to see what comes.
        </p>
      )}
      {ready && inView.length === 0 && !asTable && (
        <p class="empty">
          Nothing ran in this time. <a href="#/add">Add jobs</a>, or look further with − or by dragging.
        </p>
      )}
      {store.current?.truncated && <p class="muted small">There are more jobs than can be shown at once: look closer to see all.</p>}
      {!asTable && (
        <p class="muted small" id="timeline-keys">
          Wheel or pinch to zoom, drag to move. Keys: ← → move, + − zoom, Home to the present, ↑ ↓ from job to job, Enter opens
          it.
        </p>
      )}
    </>
  );
}
