// A modal dialog by the browser's own element: focus, Escape and the backdrop are its business.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import { route } from "../router";
import { Field } from "./fields";

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

// --- questions

interface Question {
  title: string;
  text: string;
  yes: string;
  danger?: boolean;
  field?: AskedField;
  answer: (text: string | null) => void;
}

/// What the user is to type; `wrong` says in words what is not right with it.
interface AskedField {
  label: string;
  placeholder: string;
  wrong: (text: string) => string;
}

const question = signal<Question | null>(null);

/// Whether the user says yes.
export function confirm(title: string, text: string, yes: string, danger = false): Promise<boolean> {
  return new Promise((resolve) => {
    question.value = { title, text, yes, danger, answer: (answer) => resolve(answer !== null) };
  });
}

/// What the user types; null: nothing, after all.
export function ask(title: string, text: string, yes: string, field: AskedField): Promise<string | null> {
  return new Promise((resolve) => {
    question.value = { title, text, yes, field, answer: resolve };
  });
}

export function Questions() {
  const asked = question.value;
  return asked && <Asked key={asked.title} asked={asked} />;
}

function Asked({ asked }: { asked: Question }) {
  const { title, text, yes, danger, field, answer } = asked;
  const [typed, setTyped] = useState("");
  const [tried, setTried] = useState(false);
  const wrong = field?.wrong(typed) ?? "";
  const end = (given: string | null) => {
    question.value = null;
    answer(given);
  };
  // Who goes to another page, by the browser's own buttons, does not want it.
  const path = route.value.path.join("/");
  useEffect(() => () => void (question.value === asked && end(null)), [path]);
  return (
    <Dialog title={title} close={() => end(null)}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          setTried(true);
          if (!wrong) {
            end(typed);
          }
        }}
      >
        <h2>{title}</h2>
        <p>{text}</p>
        {field && (
          <Field
            label={field.label}
            placeholder={field.placeholder}
            value={typed}
            set={setTyped}
            error={tried ? wrong : undefined}
            required
          />
        )}
        <div class="row">
          <button type="button" class="button" onClick={() => end(null)}>
            No
          </button>
          <button type="submit" class={`button ${danger ? "danger" : "primary"}`} autofocus={!field}>
            {yes}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
