// Moving a chart of time about: by wheel, by fingers, by dragging.
import type { View } from "./gantt";

const kLeast = 5; // seconds in view
const kMost = 366 * 86400;

/// `at`: the moment that stays where it is.
export function zoomed(view: View, factor: number, at: number): View {
  const length = Math.min(Math.max((view.to - view.from) * factor, kLeast), kMost);
  const part = (at - view.from) / (view.to - view.from);
  return { from: at - part * length, to: at + (1 - part) * length };
}

export function panned(view: View, seconds: number): View {
  return { from: view.from + seconds, to: view.to + seconds };
}

interface Chart {
  element: HTMLElement;
  view: () => View;
  gutter: () => number;
  width: () => number;
  move: (view: View) => void;
  point: (x: number, y: number) => void; // the pointer is there, and moves nothing
  leave: () => void;
  click: (x: number, y: number) => void;
}

/// Returns how to stop.
export function moveByHand(chart: Chart): () => void {
  const { element } = chart;
  const stop = new AbortController();
  const fingers = new Map<number, { x: number; y: number }>();
  let begun: { view: View; x: number; spread: number } | null = null;
  let travelled = 0;

  const place = (event: MouseEvent) => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const perPixel = (view: View) => (view.to - view.from) / (chart.width() - chart.gutter());
  const timeAt = (view: View, x: number) => view.from + (x - chart.gutter()) * perPixel(view);
  const middle = () => {
    const all = [...fingers.values()];
    return all.reduce((sum, one) => sum + one.x, 0) / all.length;
  };
  const spread = () => {
    const [a, b] = [...fingers.values()];
    return a && b ? Math.max(Math.abs(a.x - b.x), 20) : 0;
  };
  const begin = () => {
    begun = fingers.size > 0 ? { view: chart.view(), x: middle(), spread: spread() } : null;
  };

  const on = <K extends keyof HTMLElementEventMap>(name: K, act: (event: HTMLElementEventMap[K]) => void) =>
    element.addEventListener(name, act, { signal: stop.signal, passive: false });

  on("wheel", (event) => {
    const { x } = place(event);
    if (x < chart.gutter() && !event.ctrlKey) {
      return; // over the names the page scrolls
    }
    event.preventDefault();
    const view = chart.view();
    const unit = event.deltaMode === 1 ? 16 : 1;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      chart.move(panned(view, (event.deltaX || event.deltaY) * unit * perPixel(view)));
    } else {
      const speed = event.ctrlKey ? 0.01 : 0.0022; // pinching a trackpad comes as small steps with Ctrl
      chart.move(zoomed(view, Math.exp(event.deltaY * unit * speed), timeAt(view, Math.max(x, chart.gutter()))));
    }
  });
  on("pointerdown", (event) => {
    if (event.button === 0) {
      fingers.set(event.pointerId, place(event));
      travelled = fingers.size > 1 ? Infinity : 0;
      begin();
    }
  });
  on("pointermove", (event) => {
    const at = place(event);
    const before = fingers.get(event.pointerId);
    if (!before || !begun) {
      chart.point(at.x, at.y);
      return;
    }
    travelled += Math.abs(at.x - before.x);
    fingers.set(event.pointerId, at);
    if (travelled < 4) {
      return; // a click that trembles
    }
    if (!element.hasPointerCapture(event.pointerId)) {
      element.setPointerCapture(event.pointerId);
    }
    chart.leave();
    const pinch = begun.spread > 0 && fingers.size > 1 ? begun.spread / spread() : 1;
    const wide = zoomed(begun.view, pinch, timeAt(begun.view, begun.x));
    chart.move(panned(wide, (begun.x - middle()) * perPixel(wide)));
  });
  const lift = (event: PointerEvent) => {
    const held = fingers.delete(event.pointerId);
    if (held && event.type === "pointerup" && travelled < 4) {
      const { x, y } = place(event);
      chart.click(x, y);
    }
    begin();
  };
  on("pointerup", lift);
  on("pointercancel", lift);
  on("pointerleave", (event) => {
    if (!fingers.has(event.pointerId)) {
      chart.leave();
    }
  });
  return () => stop.abort();
}
