// Tidying up: jobs that ended long ago are forgotten, with their logs. How many is told before.
import { useEffect, useState } from "preact/hooks";
import { get, post } from "../api";
import { count, several, stateWord } from "../format";
import { numbers } from "../job_list";
import { endedStates } from "../types";
import { Action } from "./basics";
import { Dialog } from "./dialog";
import { Choice } from "./fields";
import { toast } from "./toast";

const kDay = 86400;
const ages = [
  { value: "30", name: "more than 30 days ago" },
  { value: "7", name: "more than 7 days ago" },
  { value: "1", name: "more than a day ago" },
  { value: "0", name: "at any time" },
];
const states = [{ value: "ended", name: "all that ended" }, ...endedStates.map((state) => ({ value: state, name: stateWord(state) }))];

/// How many ended before then: they are asked for in that order, and the border is found by halves.
async function countOlder(state: string, days: number, abort: AbortSignal): Promise<number> {
  const query = { select: [`state=${state}`], all: true, sort: "ended" };
  const ids = numbers(await get("/v1/jobs/ids", query, abort));
  const before = Date.now() / 1000 - days * kDay;
  if (days === 0) {
    return ids.length;
  }
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const { ended } = await get(`/v1/jobs/${ids[middle]!}`, undefined, abort);
    if (ended !== null && ended < before) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

async function forget(state: string, days: number): Promise<number> {
  let sum = 0;
  for (let more = true; more; ) {
    const answer = await post("/v1/jobs/forget", { older: `${days}d`, select: [`state=${state}`] });
    sum += answer.forgotten;
    more = answer.more && answer.forgotten > 0;
  }
  return sum;
}

export function ForgetDialog({ close }: { close: () => void }) {
  const [state, setState] = useState("ended");
  const [days, setDays] = useState("30");
  const [found, setFound] = useState<number | null>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const abort = new AbortController();
    setFound(null);
    setProblem("");
    countOlder(state, Number(days), abort.signal).then(setFound, (error: Error) => abort.signal.aborted || setProblem(error.message));
    return () => abort.abort();
  }, [state, days]);
  const run = async () => {
    const sum = await forget(state, Number(days));
    close();
    toast(`Forgot ${several(sum, "job")}.`);
  };
  return (
    <Dialog title="Forget old jobs" close={close}>
      <form onSubmit={(event) => event.preventDefault()}>
        <h2>Forget old jobs</h2>
        <p>The daemon deletes what it knows of these jobs, with the logs that it keeps for them. This cannot be undone.</p>
        <Choice label="Which jobs" value={state} set={setState} options={states} />
        <Choice label="That ended" value={days} set={setDays} options={ages} />
        <p role="status">
          {problem || (found === null ? "Counting …" : found === 0 ? "There is no such job." : `${several(found, "job")} will be forgotten.`)}
        </p>
        <div class="row">
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
          <Action class="danger" disabled={!found} run={run}>
            {found ? `Forget ${count(found)}` : "Forget"}
          </Action>
        </div>
      </form>
    </Dialog>
  );
}
