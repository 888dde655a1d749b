// Short messages in a corner, also read out by screen readers.
import { signal } from "@preact/signals";

interface Toast {
  id: number;
  text: string;
  bad: boolean;
  link?: ToastLink;
}

/// Where to see what was done.
export interface ToastLink {
  href: string;
  text: string;
}

const toasts = signal<Toast[]>([]);
let next = 1;

export function toast(text: string, bad = false, link?: ToastLink) {
  const id = next++;
  toasts.value = [...toasts.value.slice(-3), { id, text, bad, link }];
  setTimeout(() => close(id), bad ? 12_000 : 5_000);
}

export function toastError(error: unknown) {
  toast(error instanceof Error ? error.message : String(error), true);
}

function close(id: number) {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((one) => (
        <div key={one.id} class={one.bad ? "toast bad" : "toast"}>
          <span>
            {one.text} {one.link && <a href={one.link.href}>{one.link.text}</a>}
          </span>
          <button type="button" class="button plain compact" aria-label="Close" onClick={() => close(one.id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
