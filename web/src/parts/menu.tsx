// A button that opens a small panel under it.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface MenuProps {
  name: ComponentChildren;
  label?: string;
  children: ComponentChildren;
}

export function Menu({ name, label, children }: MenuProps) {
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const away = (event: Event) => {
      if (details.current?.open && !details.current.contains(event.target as Node)) {
        details.current.open = false;
      }
    };
    document.addEventListener("pointerdown", away);
    document.addEventListener("focusin", away);
    return () => {
      document.removeEventListener("pointerdown", away);
      document.removeEventListener("focusin", away);
    };
  }, []);
  return (
    <details
      ref={details}
      class="menu"
      onKeyDown={(event) => {
        if (event.key === "Escape" && details.current!.open) {
          event.stopPropagation();
          details.current!.open = false;
          details.current!.querySelector("summary")!.focus();
        }
      }}
    >
      <summary class="button" aria-label={label}>
        {name}
      </summary>
      {/* It can have the focus, so that a click between its inputs does not give that to the page. */}
      <div class="menu-panel" tabIndex={-1}>
        {children}
      </div>
    </details>
  );
}
