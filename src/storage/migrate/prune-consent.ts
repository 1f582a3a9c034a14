import type { PrunePlan } from './copy-registry';

/** Up to this share of the destination is deleted without being asked. */
const HARMLESS_SHARE = 0.1;

export interface PruneConsent {
  /** `--prune`. */
  readonly prune: boolean;
  /** `--yes`. */
  readonly yes: boolean;
  /** Told what will be deleted. */
  readonly announce: (text: string) => void;
}

/** Refuses to delete more than was agreed to. */
export function pruneConsent({ prune, yes, announce }: PruneConsent): (plan: PrunePlan) => void {
  return (plan) => {
    const { keys, deletions, examples } = plan;
    if (!prune) {
      throw new Error(
        `the destination holds ${deletions} keys that the source does not have (${examples.join(', ')}): is it the right one? --prune deletes them`,
      );
    }
    announce(describePlan(plan));
    if (!yes && deletions > keys * HARMLESS_SHARE) {
      throw new Error(
        `that is more than a tenth of the destination: nothing has been changed; --yes says that it is meant`,
      );
    }
  };
}

/** `--prune deletes 3 of 20 keys of the destination: 2 pods, 1 secrets`, the most first. */
export function describePlan({ keys, deletions, byResource }: PrunePlan): string {
  const counts = [...byResource].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  const resources = counts.map(([resource, count]) => `${count} ${resource}`).join(', ');
  return `--prune deletes ${deletions} of ${keys} keys of the destination: ${resources}`;
}
