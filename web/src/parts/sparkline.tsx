// Ten minutes as a small filled line, without axes.

const kSeconds = 600;
const kStep = 5; // seconds that become one point: a screen full of devices is drawn every second
const kHeight = 100;

interface SparklineProps {
  times: number[];
  values: (number | null)[];
  top: number;
  label: string;
}

/// The mean of each step, or null where nothing is known.
function steps(times: number[], values: (number | null)[], end: number): (number | null)[] {
  const count = kSeconds / kStep;
  const sums = new Float64Array(count);
  const seen = new Uint16Array(count);
  times.forEach((time, i) => {
    const at = count - 1 - Math.floor((end - time) / kStep);
    const value = values[i];
    if (at >= 0 && at < count && value != null) {
      sums[at]! += value;
      seen[at]! += 1;
    }
  });
  return Array.from(sums, (sum, i) => (seen[i] ? sum / seen[i]! : null));
}

export function Sparkline({ times, values, top, label }: SparklineProps) {
  // Steps end at whole multiples, so that points do not change as time goes on.
  const end = (Math.floor((times[times.length - 1] ?? 0) / kStep) + 1) * kStep - 1e-3;
  let line = "";
  let area = "";
  let begin = -1;
  let x = 0;
  const close = () => {
    if (begin >= 0) {
      area += `L${x} ${kHeight}L${begin} ${kHeight}Z`;
      begin = -1;
    }
  };
  steps(times, values, end).forEach((value, i) => {
    if (value === null) {
      close();
      return;
    }
    x = i * kStep;
    const point = `${begin < 0 ? "M" : "L"}${x} ${(kHeight - Math.min(value / top, 1) * kHeight).toFixed(1)}`;
    begin = begin < 0 ? x : begin;
    line += point;
    area += point;
  });
  close();
  return (
    <svg
      class="sparkline"
      viewBox={`0 -2 ${kSeconds - kStep} ${kHeight + 4}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path class="sparkline-area" d={area} />
      <path class="sparkline-line" d={line} vector-effect="non-scaling-stroke" />
    </svg>
  );
}
