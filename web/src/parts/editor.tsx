// A text area with line numbers, where lines that are wrong are marked. Only the numbers in sight
// are there, so that a text of any length may be pasted.
import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

const kLineHeight = 19; // as in the style sheet
const kPadding = 10;

interface EditorProps {
  label: string;
  value: string;
  set: (value: string) => void;
  wrong: Map<number, string>; // what is wrong, by line
  area: RefObject<HTMLTextAreaElement>;
  placeholder?: string;
}

/// Puts the cursor there; both count from 1, the column in characters.
export function goTo(area: HTMLTextAreaElement, line: number, column: number) {
  let start = 0;
  for (let i = 1; i < line; i += 1) {
    const end = area.value.indexOf("\n", start);
    if (end < 0) {
      break;
    }
    start = end + 1;
  }
  const end = area.value.indexOf("\n", start);
  const rest = Array.from(area.value.slice(start, end < 0 ? undefined : end));
  const at = start + rest.slice(0, Math.max(column - 1, 0)).join("").length;
  area.focus();
  area.setSelectionRange(at, at);
  area.scrollTop = Math.max((line - 4) * kLineHeight, 0);
}

export function Editor({ label, value, set, wrong, area, placeholder }: EditorProps) {
  const [seen, setSeen] = useState({ top: 0, height: 400 });
  const look = () => setSeen({ top: area.current!.scrollTop, height: area.current!.clientHeight });
  useEffect(() => {
    const size = new ResizeObserver(look);
    size.observe(area.current!);
    return () => size.disconnect();
  }, []);

  const count = countLines(value);
  const first = Math.max(Math.floor((seen.top - kPadding) / kLineHeight), 0);
  const last = Math.min(first + Math.ceil(seen.height / kLineHeight) + 1, count);
  const numbers = Array.from({ length: Math.max(last - first, 0) }, (_, i) => first + i + 1);
  return (
    <div class="editor">
      <div class="gutter" aria-hidden="true" style={{ width: `${Math.max(String(count).length, 2) + 3}ch` }}>
        {numbers.map((line) => (
          <span
            key={line}
            class={wrong.has(line) ? "wrong" : ""}
            title={wrong.get(line)}
            style={{ top: `${kPadding + (line - 1) * kLineHeight - seen.top}px` }}
          >
            {line}
          </span>
        ))}
      </div>
      <textarea
        ref={area}
        aria-label={label}
        aria-invalid={wrong.size > 0 ? true : undefined}
        value={value}
        placeholder={placeholder}
        wrap="off"
        spellcheck={false}
        autocapitalize="off"
        onInput={(event) => set(event.currentTarget.value)}
        onScroll={look}
      />
    </div>
  );
}

function countLines(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    count += 1;
  }
  return count;
}
