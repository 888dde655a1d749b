// What the browser's tab says: what is shown, so that one of many tabs is found.
import { useEffect } from "preact/hooks";

export function useTitle(text: string) {
  useEffect(() => {
    document.title = text === "" ? "berth" : `${text} – berth`;
  }, [text]);
}
