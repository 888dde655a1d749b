// berth's page: signs in, keeps itself fresh, and shows what the address asks for.
import { render, type ComponentType } from "preact";
import "./css/app.css";
import { signedIn } from "./api";
import { Frame } from "./frame";
import { begin } from "./live";
import { Questions } from "./parts/dialog";
import { Toasts } from "./parts/toast";
import { AddJobs } from "./pages/add";
import { Devices } from "./pages/devices";
import { JobPage } from "./pages/job";
import { Jobs } from "./pages/jobs";
import { Overview } from "./pages/overview";
import { SignIn } from "./pages/sign_in";
import { SweepPage } from "./pages/sweep";
import { Sweeps } from "./pages/sweeps";
import { TimelinePage } from "./pages/timeline";
import { WhatIf } from "./pages/whatif";
import { route } from "./router";
import "./theme";

const pages: Record<string, ComponentType> = {
  "": Overview,
  add: AddJobs,
  timeline: TimelinePage,
  whatif: WhatIf,
  devices: Devices,
};

function Page() {
  const [first = "", second] = route.value.path;
  if (first === "jobs") {
    return second ? <JobPage key={second} id={Number(second)} /> : <Jobs />;
  }
  if (first === "sweeps") {
    return second ? <SweepPage key={second} name={second} /> : <Sweeps />;
  }
  const Found = pages[first];
  return Found ? (
    <Found />
  ) : (
    <p class="empty">
      There is no such page. <a href="#/">To the overview</a>
    </p>
  );
}

function App() {
  if (!signedIn.value || route.value.path[0] === "login") {
    return <SignIn />;
  }
  return (
    <>
      <Frame>
        <Page />
      </Frame>
      <Questions />
      <Toasts />
    </>
  );
}

begin();
render(<App />, document.getElementById("app")!);
