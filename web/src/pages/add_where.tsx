// Where jobs are to run: shown where there is a cluster.
import { kHere, placesToRun } from "../places";
import { Choice, Field } from "../parts/fields";
import type { Description, FullJob } from "../types";

/// What was chosen and typed. The options count on a cluster alone.
export interface WhereTexts {
  on?: string;
  clusterOptions?: string;
}

const lines = (text: string | undefined) => (text ?? "").split("\n").map((line) => line.trim()).filter(Boolean);

export function readWhere({ on = kHere, clusterOptions }: WhereTexts): Description {
  const options = lines(clusterOptions);
  return on === kHere ? {} : { on, ...(options.length > 0 ? { cluster_options: options } : {}) };
}

export function whereOf(job: FullJob): WhereTexts {
  return { on: job.on ?? kHere, clusterOptions: (job.cluster_options ?? []).join("\n") };
}

export function Where({ texts, set }: { texts: WhereTexts; set: (change: WhereTexts) => void }) {
  const on = texts.on ?? kHere;
  const places = placesToRun(on);
  if (places.length === 0) {
    return null;
  }
  return (
    <>
      <Choice label="Where it runs" value={on} set={(next) => set({ on: next })} options={places} />
      {on !== kHere && (
        <Field
          label="Options for Slurm"
          value={texts.clusterOptions ?? ""}
          set={(clusterOptions) => set({ clusterOptions })}
          placeholder={"--partition=gpu\n--account=lab"}
          hint="Of sbatch, one per line."
          lines={2}
        />
      )}
    </>
  );
}
