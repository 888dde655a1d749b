// What the daemon can be told about scheduling, and how that went.
import { signal } from "@preact/signals";
import { get, post } from "./api";
import { status } from "./live";
import { toast, toastError } from "./parts/toast";
import type { PolicyList, Status } from "./types";

/// Read once, by the first page that shows them.
export const policies = signal<PolicyList | null>(null);

export async function readPolicies() {
  if (policies.value === null) {
    try {
      policies.value = await get<PolicyList>("/v1/policies");
    } catch (error) {
      toastError(error);
    }
  }
}

export async function choosePolicy(change: { policy?: string; placement?: string }) {
  status.value = await post<Status>("/v1/daemon/policy", change);
  toast(change.policy ? `Jobs now start by ${change.policy}.` : `Devices are now chosen by ${change.placement}.`);
}
