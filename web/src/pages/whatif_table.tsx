// The figures of each policy beside each other; the best of each column stands out.
import { duration, energy, short } from "../format";
import { Action } from "../parts/basics";
import { choosePolicy, kindOf, policies } from "../scheduler";
import type { WhatIfResult } from "../types";

interface Figure {
  title: string;
  value: (result: WhatIfResult) => number;
  write: (value: number) => string;
  more?: boolean; // is better
}

const figures: Figure[] = [
  { title: "Mean wait", value: (one) => one.mean_wait_s, write: duration },
  { title: "99 % wait below", value: (one) => one.p99_wait_s, write: duration },
  { title: "Mean completion", value: (one) => one.mean_completion_s, write: duration },
  { title: "All done after", value: (one) => one.makespan_s, write: duration },
  // Of the past, jobs that shared a device count each: that is no share of anything.
  {
    title: "Utilisation",
    value: (one) => (one.utilization <= 1 ? one.utilization : 0),
    write: (part) => (part > 0 ? `${short(100 * part)} %` : "–"),
    more: true,
  },
  { title: "Energy", value: (one) => one.energy_j, write: (joules) => (joules > 0 ? energy(joules) : "–") },
];

/// Of the policies; what was recorded is none. Within half a percent is the same.
function isBest(figure: Figure, result: WhatIfResult, all: WhatIfResult[]): boolean {
  if (result.policy === "recorded") {
    return false;
  }
  const values = all.filter((one) => one.policy !== "recorded").map(figure.value);
  const best = figure.more ? Math.max(...values) : Math.min(...values);
  const same = (value: number) => Math.abs(value - best) <= 0.005 * Math.abs(best);
  return values.length > 1 && !values.every(same) && same(figure.value(result));
}

function Difference({ figure, value, base }: { figure: Figure; value: number; base: number }) {
  if (!(base > 0) || figure.write(value) === "–") {
    return null;
  }
  const part = value / base - 1;
  const percent = Math.round(Math.abs(100 * part));
  if (percent === 0) {
    return <span class="difference muted">same</span>;
  }
  const better = part < 0 !== (figure.more ?? false);
  const text = `${part > 0 ? "+" : "−"}${percent} %`;
  return <span class={better ? "difference better" : "difference worse"}>{text}</span>;
}

/// The answer in a sentence: what the best of them does to the wait.
export function whatIfSentence(results: WhatIfResult[], present: string, past: boolean): string {
  const base = results.find((one) => one.policy === present);
  const others = results.filter((one) => one.policy !== present && one.policy !== "recorded");
  if (!base || others.length === 0) {
    return "";
  }
  const best = others.reduce((least, one) => (one.mean_wait_s < least.mean_wait_s ? one : least));
  const percent = base.mean_wait_s > 0 ? Math.round(100 * (1 - best.mean_wait_s / base.mean_wait_s)) : 0;
  const would = past ? "would have" : "would";
  return percent > 0
    ? `${best.policy} ${would} cut the mean wait by ${percent} %: ${duration(best.mean_wait_s)} instead of ${duration(base.mean_wait_s)} under ${present}.`
    : `None of these policies ${would} cut the mean wait of ${duration(base.mean_wait_s)} under ${present}.`;
}

export function WhatIfTable({ results, present }: { results: WhatIfResult[]; present: string }) {
  const base = results.find((one) => one.policy === present) ?? results.find((one) => one.policy === "recorded");
  const live = new Set(policies.value?.policies.filter((one) => one.live).map((one) => one.name));
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label="Comparison">
      <table class="plain whatif-table">
        <thead>
          <tr>
            <th>Policy</th>
            {figures.map((figure) => (
              <th key={figure.title} class="right">
                {figure.title}
              </th>
            ))}
            <th>
              <span class="hidden-text">Use it</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {results.map((result) => (
            <tr key={result.policy}>
              <th scope="row">
                {result.policy === "recorded" ? "as it was" : result.policy}
                {result.policy === present && <span class="mark">in use</span>}
              </th>
              {figures.map((figure) => {
                const best = isBest(figure, result, results);
                return (
                  <td key={figure.title} class="right">
                    <span class={best ? "best" : ""}>
                      {figure.write(figure.value(result))}
                      {best && <span class="hidden-text"> (best)</span>}
                    </span>
                    {base && base !== result && (
                      <Difference figure={figure} value={figure.value(result)} base={figure.value(base)} />
                    )}
                  </td>
                );
              })}
              <td class="right">
                {live.has(kindOf(result.policy)) && result.policy !== present && (
                  <Action class="compact" label={`Use this: ${result.policy}`} run={() => choosePolicy(result.policy)}>
                    Use this
                  </Action>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
