/** What is left of a namespace after a pass. */
export interface Remaining {
  readonly resources: ReadonlyMap<string, number>;
  readonly finalizers: ReadonlyMap<string, number>;
  readonly failures: readonly string[];
  /** Versions of groups that did not say what they have, each with the reason. */
  readonly undiscovered: readonly string[];
}

/** A NamespaceCondition. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string | null;
}

/** What a condition says when it is false, and when it is true. */
interface Wording {
  readonly type: string;
  readonly good: readonly [reason: string, message: string];
  readonly bad: readonly [reason: string, message: string];
  readonly isBad: boolean;
}

function wordingsOf({ resources, finalizers, failures, undiscovered }: Remaining): readonly Wording[] {
  const instances = [...resources].map(([name, count]) => `${name} has ${count} resource instances`).join(', ');
  const held = [...finalizers].map(([name, count]) => `${name} in ${count} resource instances`).join(', ');
  return [
    {
      type: 'NamespaceDeletionDiscoveryFailure',
      good: ['ResourcesDiscovered', 'All resources successfully discovered'],
      bad: [
        'DiscoveryFailed',
        `Discovery failed for some groups, ${undiscovered.length} failing: unable to retrieve the complete list of server APIs: ${undiscovered.join(', ')}`,
      ],
      isBad: undiscovered.length > 0,
    },
    {
      type: 'NamespaceDeletionGroupVersionParsingFailure',
      good: ['ParsedGroupVersions', 'All legacy kube types successfully parsed'],
      bad: ['GroupVersionParsingFailed', ''],
      isBad: false,
    },
    {
      type: 'NamespaceDeletionContentFailure',
      good: ['ContentDeleted', 'All content successfully deleted, may be waiting on finalization'],
      bad: [
        'ContentDeletionFailed',
        `Failed to delete all resource types, ${failures.length} remaining: ${failures.join(', ')}`,
      ],
      isBad: failures.length > 0,
    },
    {
      type: 'NamespaceContentRemaining',
      good: ['ContentRemoved', 'All content successfully removed'],
      bad: ['SomeResourcesRemain', `Some resources are remaining: ${instances}`],
      isBad: resources.size > 0,
    },
    {
      type: 'NamespaceFinalizersRemaining',
      good: ['ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
      bad: ['SomeFinalizersRemain', `Some content in the namespace has finalizers remaining: ${held}`],
      isBad: finalizers.size > 0,
    },
  ];
}

/**
 * The conditions that tell a user why a namespace is still there (API reference, NamespaceCondition), after those of others. One that says
 * what it said before is as it was; `now`: of the others.
 */
export function conditionsOf(remaining: Remaining, before: readonly Condition[], now: string): readonly Condition[] {
  const own = wordingsOf(remaining).map(({ type, good, bad, isBad }): Condition => {
    const [reason, message] = isBad ? bad : good;
    const status = isBad ? 'True' : 'False';
    const old = before.find((condition) => condition.type === type);
    const isOld = old?.status === status && old.reason === reason && old.message === message;
    return isOld ? old : { type, status, lastTransitionTime: now, reason, message };
  });
  const types = new Set(own.map(({ type }) => type));
  return [...before.filter(({ type }) => !types.has(type)), ...own];
}
