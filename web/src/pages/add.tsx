// Adding jobs, in four ways. What was typed stays while one looks at other pages.
import type { ComponentType } from "preact";
import { link, route } from "../router";
import { useTitle } from "../title";
import { AddCsv } from "./add_csv";
import { AddForm } from "./add_form";
import { AddSweep } from "./add_sweep";
import { AddText } from "./add_text";

const ways: { path: string; name: string; Form: ComponentType }[] = [
  { path: "form", name: "One job", Form: AddForm },
  { path: "text", name: "Text", Form: AddText },
  { path: "sweep", name: "Sweep", Form: AddSweep },
  { path: "csv", name: "CSV", Form: AddCsv },
];

export function AddJobs() {
  useTitle("Add jobs");
  const way = ways.find((one) => one.path === route.value.path[1]) ?? ways[0]!;
  return (
    <>
      <div class="page-head">
        <h1>Add jobs</h1>
      </div>
      <nav class="tabs" aria-label="Ways to add jobs">
        {ways.map((one) => (
          <a key={one.path} href={link(["add", one.path])} aria-current={one === way ? "page" : undefined}>
            {one.name}
          </a>
        ))}
      </nav>
      <way.Form />
    </>
  );
}
