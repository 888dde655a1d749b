// A job's output as it comes: windowed, in colour, with a search; what is not in view is not in
// the document.
import { useSignal, type Signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Piece } from "../ansi";
import { look } from "../ansi_colours";
import { bytes, several } from "../format";
import { LogBuffer, LogRows, LogSearch, searchPattern } from "../log_buffer";
import { downloadLog, followLog, type LogChoice, type LogState } from "../log_reader";
import { dark } from "../theme";
import type { Attempt } from "../types";
import { Action } from "./basics";
import { Windowed, type WindowedHandle } from "./windowed";

const kRow = 18;
const kFullRows = 60; // a longer log fills as much of the window as the style allows
const kCut = 2000; // characters of a line that does not wrap
const kNear = 200; // characters around a row in which a find may begin or end
const kTails = [100, 1000, 10_000, -1];
const stateWords: Record<LogState, string> = { reading: "reading …", live: "live", ended: "complete", failed: "" };

interface Mark {
  from: number;
  to: number;
  current: boolean;
}

interface RowProps {
  pieces: Piece[];
  from: number;
  to: number;
  marks: Mark[];
  rest: number; // characters that are left out
}

/// The characters from–to of a line, with what was found in it marked.
function Row({ pieces, from, to, marks, rest }: RowProps) {
  const parts = [];
  let at = 0;
  for (const { text, style } of pieces) {
    const end = at + text.length;
    const cuts = [at, end, from, to, ...marks.flatMap((mark) => [mark.from, mark.to])]
      .filter((cut) => cut >= Math.max(at, from) && cut <= Math.min(end, to))
      .sort((a, b) => a - b);
    for (let i = 0; i + 1 < cuts.length; ++i) {
      const [begin, stop] = [cuts[i]!, cuts[i + 1]!];
      if (begin < stop) {
        const mark = marks.find((one) => one.from <= begin && one.to >= stop);
        const word = text.slice(begin - at, stop - at);
        const painted = look(style, dark.value);
        parts.push(
          mark ? <mark class={mark.current ? "current" : ""}>{word}</mark> : painted ? <span style={painted}>{word}</span> : word,
        );
      }
    }
    at = end;
  }
  return (
    <div class="log-row">
      {parts}
      {rest > 0 && <span class="muted"> … {several(rest, "character")} more: wrap to see them</span>}
    </div>
  );
}

/// How many characters fit beside each other.
function useColumns(element: { current: HTMLElement | null }, wrap: boolean): number {
  const [columns, setColumns] = useState(0);
  useLayoutEffect(() => {
    const holder = element.current;
    if (!wrap || !holder) {
      setColumns(0);
      return;
    }
    const probe = document.createElement("span");
    probe.className = "log-row log-probe";
    probe.textContent = "0".repeat(100);
    holder.append(probe);
    const one = probe.getBoundingClientRect().width / 100;
    probe.remove();
    const measure = () => setColumns(Math.max(20, Math.floor((holder.clientWidth - 28) / one)));
    measure();
    const size = new ResizeObserver(measure);
    size.observe(holder);
    return () => size.disconnect();
  }, [wrap]);
  return columns;
}

interface SearchBoxProps {
  buffer: LogBuffer;
  version: Signal<number>;
  search: Signal<LogSearch | null>;
  current: Signal<number>;
  top: () => number; // the first line in view
  show: (hit: number) => void;
  searchAll: () => void; // what has not been read is to be read, too
  read: number | null; // bytes so far, while there is more
}

function SearchBox({ buffer, version, search, current, top, show, searchAll, read }: SearchBoxProps) {
  const [text, setText] = useState("");
  const found = useSignal(0);
  const grown = version.value;
  useEffect(() => {
    const pattern = searchPattern(text);
    search.value = pattern && new LogSearch(buffer, pattern);
    current.value = -1;
    found.value = 0;
  }, [text, buffer]);
  // A little at a time, so that a long log does not stop the page; and while it is still read.
  const timer = useRef(0);
  const work = () => {
    timer.current = 0;
    const more = search.value?.work(8) ?? false;
    found.value = search.value?.hits.length ?? 0;
    if (more) {
      timer.current = window.setTimeout(work);
    } else if (current.value < 0 && found.value > 0) {
      show(search.value!.near(top()));
    }
  };
  useEffect(() => {
    timer.current ||= window.setTimeout(work, 60);
  }, [text, buffer, grown]);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = 0;
    },
    [text, buffer],
  );

  const step = (by: number) => {
    if (found.value > 0) {
      show((current.value + by + found.value) % found.value);
    }
  };
  const most = found.value >= LogSearch.kMost ? "+" : "";
  const hits =
    found.value > 0
      ? `${(current.value + 1).toLocaleString("en")} of ${found.value.toLocaleString("en")}${most}`
      : read === null
        ? "not found"
        : "none yet";
  const progress = read === null ? "" : ` · ${bytes(read)} searched …`;
  const left = buffer.gone > 0 ? ` · without the oldest ${several(buffer.gone, "line")}` : "";
  return (
    <div class="log-search" role="search">
      <input
        type="search"
        placeholder="Search the log"
        aria-label="Search the log"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          searchAll();
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") {
            step(event.shiftKey ? -1 : 1);
          }
        }}
      />
      {text !== "" && (
        <>
          <span class="muted small" role="status">
            {hits}
            {progress}
            {left}
          </span>
          <button type="button" class="button compact" aria-label="Previous" onClick={() => step(-1)}>
            ↑
          </button>
          <button type="button" class="button compact" aria-label="Next" onClick={() => step(1)}>
            ↓
          </button>
        </>
      )}
    </div>
  );
}

interface LogViewProps {
  job: number;
  fileName: string;
  attempts: Attempt[];
}

export function LogView({ job, fileName, attempts }: LogViewProps) {
  const newest = attempts[attempts.length - 1]!.attempt;
  const [chosen, choose] = useState(0); // 0 stays with the newest attempt
  const [stream, setStream] = useState<LogChoice["stream"]>("out");
  const [tail, setTail] = useState(1000);
  const [wrap, setWrap] = useState(false);
  const follow = useSignal(true);
  const version = useSignal(0);
  const told = useSignal<{ state: LogState; problem: string }>({ state: "reading", problem: "" });
  const search = useSignal<LogSearch | null>(null);
  const current = useSignal(-1);
  const read = useSignal(0);
  const downloaded = useSignal(-1);
  const handle = useRef<WindowedHandle>(null);
  const holder = useRef<HTMLDivElement>(null);
  const attempt = chosen || newest;
  const choice: LogChoice = { job, attempt, stream, tail };
  const buffer = useMemo(() => new LogBuffer(), [job, attempt, stream, tail]);
  const columns = useColumns(holder, wrap);
  const rows = useMemo(() => new LogRows(buffer, columns), [buffer, columns]);

  useEffect(() => {
    let frame = 0;
    follow.value = true;
    told.value = { state: "reading", problem: "" };
    read.value = 0;
    const grow = () => {
      frame = 0;
      // While it is followed, the last so many lines are shown; who reads further up keeps them.
      const over = buffer.lines.length - tail;
      if (follow.value && tail > 0 && over > tail / 10) {
        buffer.drop(over);
      }
      version.value += 1;
    };
    const stop = followLog(choice, {
      text: (text, size) => {
        buffer.append(text);
        read.value = size;
        frame ||= requestAnimationFrame(grow);
      },
      state: (state, problem = "") => (told.value = { state, problem }),
    });
    return () => {
      stop();
      cancelAnimationFrame(frame);
    };
  }, [buffer]);

  rows.update();
  const grown = version.value;
  const count = rows.count;
  useLayoutEffect(() => {
    if (follow.value) {
      handle.current?.toEnd();
    }
  }, [grown, count, columns]);

  const show = (index: number) => {
    const hit = search.value?.hits[index];
    if (hit) {
      current.value = index;
      follow.value = false;
      handle.current!.reveal(rows.rowOf(hit.line - buffer.gone, hit.column), true);
    }
  };
  const row = (index: number, slot: number) => {
    const { line, from } = rows.locate(index);
    const most = columns === 0 ? kCut : Infinity;
    const to = columns === 0 ? kCut : from + columns;
    const marks: Mark[] = [];
    const pattern = search.value?.pattern;
    if (pattern) {
      const at = search.value!.hits[current.value];
      const begin = Math.max(0, from - kNear);
      for (const found of buffer.plain(line).slice(begin, to + kNear).matchAll(pattern)) {
        const column = begin + found.index;
        const here = at !== undefined && at.line === line + buffer.gone && at.column === column;
        marks.push({ from: column, to: column + found[0].length, current: here });
      }
    }
    const rest = columns === 0 && buffer.lines[line]!.length > kCut ? buffer.plain(line).length - kCut : 0;
    return <Row key={slot} pieces={buffer.pieces(line, most)} from={from} to={to} marks={marks} rest={rest} />;
  };

  const separate = attempts.some((one) => one.attempt === attempt && one.error_log !== "");
  const { state, problem } = told.value;
  return (
    <section class="card log" aria-labelledby="log-head">
      <div class="log-head">
        <h2 id="log-head">Log</h2>
        <span class={`log-state small muted ${state}`} role="status">
          {problem || stateWords[state]}
        </span>
        <SearchBox
          buffer={buffer}
          version={version}
          search={search}
          current={current}
          show={show}
          searchAll={() => setTail(-1)}
          read={state === "reading" ? read.value : null}
          top={() => rows.locate(Math.floor(handle.current?.top() ?? 0)).line + buffer.gone}
        />
        {attempts.length > 1 && (
          <select aria-label="Attempt" value={attempt} onChange={(event) => {
            const value = Number(event.currentTarget.value);
            choose(value === newest ? 0 : value);
          }}>
            {attempts.map((one) => (
              <option key={one.attempt} value={one.attempt}>
                Attempt {one.attempt}
              </option>
            ))}
          </select>
        )}
        {separate && (
          <select aria-label="Output" value={stream} onChange={(event) => setStream(event.currentTarget.value as typeof stream)}>
            <option value="out">Output</option>
            <option value="err">Errors</option>
          </select>
        )}
        <select aria-label="Lines" value={tail} onChange={(event) => setTail(Number(event.currentTarget.value))}>
          {kTails.map((lines) => (
            <option key={lines} value={lines}>
              {lines < 0 ? "Whole log" : `Last ${lines.toLocaleString("en")} lines`}
            </option>
          ))}
        </select>
        <button type="button" class="button toggle" aria-pressed={wrap} onClick={() => setWrap(!wrap)}>
          Wrap
        </button>
        <button
          type="button"
          class="button toggle"
          aria-pressed={follow.value}
          onClick={() => {
            follow.value = !follow.value;
            if (follow.value) {
              handle.current?.toEnd();
            }
          }}
        >
          Follow
        </button>
        <Action
          run={() =>
            downloadLog(choice, fileName, (size) => (downloaded.value = size)).finally(() => (downloaded.value = -1))
          }
        >
          {downloaded.value < 0 ? "Download" : bytes(downloaded.value)}
        </Action>
      </div>
      <div class="log-holder" ref={holder} style={{ height: `${Math.min(count, kFullRows) * kRow}px` }}>
        {count === 0 && <p class="empty log-empty">{state === "reading" ? "Reading …" : state === "ended" ? "It wrote nothing." : "It has written nothing so far."}</p>}
        <Windowed
          class={columns === 0 ? "log-lines" : "log-lines wrapped"}
          role="log"
          aria-live="off"
          aria-label="Output"
          tabIndex={0}
          count={count}
          rowHeight={kRow}
          handle={handle}
          row={row}
          onMoved={() => (follow.value = handle.current!.atEnd())}
        />
      </div>
    </section>
  );
}
