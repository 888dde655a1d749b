// Light or dark: as the system has it, unless the user chose.
import { signal } from "@preact/signals";

type Choice = "system" | "light" | "dark";
const kTheme = "berth-theme";

const system = matchMedia("(prefers-color-scheme: dark)");
/// For what is drawn and not styled: it is to be drawn anew when this changes.
export const dark = signal(false);
export const choice = signal<Choice>((localStorage.getItem(kTheme) as Choice | null) ?? "system");

function show() {
  const isDark = choice.value === "dark" || (choice.value === "system" && system.matches);
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  dark.value = isDark;
}

export function chooseTheme(next: Choice) {
  choice.value = next;
  localStorage.setItem(kTheme, next);
  show();
}

system.addEventListener("change", show);
show();
