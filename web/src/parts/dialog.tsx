// A modal dialog by the browser's own element: focus, Escape and the backdrop are its business.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { signal } from "@preact/signals";

interface DialogProps {
  title: string;
  close: () => void;
  children: ComponentChildren;
}

export function Dialog({ title, close, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => element.current!.showModal(), []);
  return (
    <dialog ref={element} aria-label={title} onClose={close}>
      {children}
    </dialog>
  );
}

// --- a question with two answers

interface Question {
  title: string;
  text: string;
  yes: string;
  danger: boolean;
  answer: (yes: boolean) => void;
}

const question = signal<Question | null>(null);

/// Whether the user says yes.
export function confirm(title: string, text: string, yes: string, danger = false): Promise<boolean> {
  return new Promise((resolve) => {
    question.value = { title, text, yes, danger, answer: resolve };
  });
}

export function Questions() {
  const asked = question.value;
  if (!asked) {
    return null;
  }
  const end = (yes: boolean) => {
    question.value = null;
    asked.answer(yes);
  };
  return (
    <Dialog title={asked.title} close={() => end(false)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          end(true);
        }}
      >
        <h2>{asked.title}</h2>
        <p>{asked.text}</p>
        <div class="row">
          <button type="button" class="button" onClick={() => end(false)}>
            No
          </button>
          <button type="submit" class={`button ${asked.danger ? "danger" : "primary"}`} autofocus>
            {asked.yes}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
