// Labelled inputs, each with what is wrong with it right below.
import { useId } from "preact/hooks";

interface FieldProps {
  label: string;
  value: string;
  set: (value: string) => void;
  hint?: string;
  error?: string;
  placeholder?: string;
  lines?: number; // more than one: a text area
  mono?: boolean;
  class?: string;
  required?: boolean;
}

export function Field({ label, value, set, hint, error, placeholder, lines, mono, class: look = "", required }: FieldProps) {
  const id = useId();
  const shared = {
    id,
    value,
    placeholder,
    spellcheck: false,
    autocomplete: "off",
    autocapitalize: "off" as const,
    required,
    "aria-invalid": error ? true : undefined,
    "aria-describedby": error ? `${id}-error` : hint ? `${id}-hint` : undefined,
    onInput: (event: { currentTarget: { value: string } }) => set(event.currentTarget.value),
  };
  return (
    <div class={`field ${look}`}>
      <label for={id}>{label}</label>
      {lines ? <textarea {...shared} rows={lines} dir="auto" /> : <input {...shared} class={mono ? "mono" : ""} dir="auto" />}
      {error ? (
        <span class="field-error" id={`${id}-error`}>
          {error}
        </span>
      ) : (
        hint && (
          <span class="field-hint" id={`${id}-hint`}>
            {hint}
          </span>
        )
      )}
    </div>
  );
}

interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  set: (value: T) => void;
  options: { value: T; name: string }[];
}

export function Choice<T extends string>({ label, value, set, options }: ChoiceProps<T>) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => set(event.currentTarget.value as T)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.name}
          </option>
        ))}
      </select>
    </div>
  );
}

/// One of a few, all in sight.
export function Segments<T extends string>({ label, value, set, options }: ChoiceProps<T>) {
  const name = useId();
  return (
    <fieldset class="segments">
      <legend class="hidden-text">{label}</legend>
      {options.map((option) => (
        <label key={option.value}>
          <input
            type="radio"
            name={name}
            checked={value === option.value}
            onChange={() => set(option.value)}
          />
          <span>{option.name}</span>
        </label>
      ))}
    </fieldset>
  );
}
