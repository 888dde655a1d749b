// A long list of rows of one height, of which only those near the view are in the document.
import type { ComponentChildren, JSX, Ref } from "preact";
import { useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from "preact/hooks";

/// Browsers cut off elements that are higher (Firefox near 17.8 million, Chromium at 33.5 million
/// pixels). A list above it scrolls faster than its rows would.
const kMostPixels = 15_000_000;
const kMargin = 8; // rows in the document above and below the view

export interface WindowedHandle {
  element: HTMLElement;
  /// The first row that is in view, and how many fit.
  top: () => number;
  fits: () => number;
  atEnd: () => boolean;
  reveal: (index: number, centred?: boolean) => void;
  toEnd: () => void;
  /// So many rows came above (or went): what is in view stays.
  shift: (rows: number) => void;
}

interface WindowedProps extends Omit<JSX.HTMLAttributes<HTMLDivElement>, "ref"> {
  count: number;
  rowHeight: number;
  /// The slot is for the key: a row that comes into view takes the elements of one that left it.
  row: (index: number, slot: number) => ComponentChildren;
  head?: ComponentChildren; // stays above the rows
  headHeight?: number;
  handle: Ref<WindowedHandle>;
  bodyRole?: "rowgroup" | "presentation";
  onView?: (first: number, last: number) => void;
  onMoved?: () => void; // the user or the list has scrolled
}

interface View {
  first: number;
  last: number;
  offset: number; // of the first row, in pixels from the beginning of the list
  slots: number;
}

export function Windowed(props: WindowedProps) {
  const { count, rowHeight, row, head, headHeight = 0, handle, bodyRole, onView, onMoved, ...rest } = props;
  const element = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<View>({ first: 0, last: 0, offset: 0, slots: 1 });
  const whole = count * rowHeight;
  const height = Math.min(whole, kMostPixels);

  // Where the list would be if browsers had no limit.
  const room = () => element.current!.clientHeight - headHeight;
  const scale = () => (whole > height ? (whole - room()) / (height - room()) : 1);
  const position = () => element.current!.scrollTop * scale();
  const moveTo = (pixels: number) => {
    element.current!.scrollTop = pixels / scale();
    look();
  };

  const look = () => {
    const list = element.current!;
    const at = position();
    const first = Math.max(0, Math.floor(at / rowHeight) - kMargin);
    const last = Math.min(count, Math.ceil((at + room()) / rowHeight) + kMargin);
    const offset = whole > height ? list.scrollTop - (at - first * rowHeight) : first * rowHeight;
    setView((before) => {
      // Small steps stay within the margin: the document is then left alone.
      const near = Math.abs(before.first - first) < kMargin / 2 && Math.abs(before.last - last) < kMargin / 2;
      const same = near && whole <= height && before.last <= count && (first > 0 || before.first === 0) &&
        (last < count || before.last === last);
      const slots = Math.ceil(room() / rowHeight) + 2 * kMargin + 1;
      return same ? before : { first, last, offset, slots };
    });
  };

  useLayoutEffect(look, [count, rowHeight]);
  useEffect(() => onView?.(view.first, view.last), [view.first, view.last, onView]);
  useEffect(() => {
    const size = new ResizeObserver(look);
    size.observe(element.current!);
    return () => size.disconnect();
  }, [count, rowHeight]);

  useImperativeHandle(
    handle,
    () => ({
      element: element.current!,
      top: () => position() / rowHeight,
      fits: () => Math.max(1, Math.floor(room() / rowHeight)),
      atEnd: () => position() + room() >= whole - rowHeight,
      reveal(index, centred = false) {
        const begin = index * rowHeight;
        const at = position();
        const above = begin < at;
        if (above || begin + rowHeight > at + room()) {
          moveTo(centred ? begin - room() / 2 : above ? begin : begin + rowHeight - room());
        }
      },
      toEnd: () => moveTo(whole),
      shift: (rows) => moveTo(position() + rows * rowHeight),
    }),
    [count, rowHeight],
  );

  const rows = [];
  for (let i = view.first; i < Math.min(view.last, count); ++i) {
    rows.push(row(i, i % view.slots));
  }
  return (
    <div
      {...rest}
      ref={element}
      onScroll={() => {
        // The browser tells of a scroll with the next frame; the list may have left the page by then.
        if (element.current) {
          look();
          onMoved?.();
        }
      }}
    >
      {head}
      <div role="presentation" class="windowed-body" style={{ height: `${height}px` }}>
        <div role={bodyRole} class="windowed-rows" style={{ transform: `translateY(${view.offset}px)` }}>
          {rows}
        </div>
      </div>
    </div>
  );
}
