// Without a session: how to get one. With a link's code: gets one and forgets the code.
import { useEffect, useState } from "preact/hooks";
import { signIn } from "../api";
import { replace, route } from "../router";
import { useTitle } from "../title";

export function SignIn() {
  useTitle("Sign in");
  const [problem, setProblem] = useState("");
  const code = route.value.path[0] === "login" ? route.value.path[1] : undefined;
  useEffect(() => {
    if (!code) {
      return;
    }
    replace("#/"); // the code must not stay in the address or the history
    setProblem("");
    signIn(code).catch((error) => setProblem(error.message));
  }, [code]); // a link may be pasted into a tab that shows this page already
  return (
    <main class="sign-in card">
      <h1>berth</h1>
      {problem && (
        <p class="notice bad" role="alert">
          The link did not work: {problem}
        </p>
      )}
      <p>
        Type <code>berth ui</code> on the machine where the daemon runs. It opens this page, signed in; its link works
        once.
      </p>
    </main>
  );
}
