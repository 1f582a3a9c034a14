/**
 * The phases of a start, under the names that kube-apiserver's health checks have for them, in the order in which its
 * endpoints list them.
 */
export const START_PHASES = [
  /** Admission sees the namespaces that every cluster has. */
  'poststarthook/start-kube-apiserver-admission-initializer',
  /** The registry is in memory, and what authorization knows of it follows it. */
  'poststarthook/generic-apiserver-start-informers',
  /** Flow schemas and priority levels are followed; only with priority and fairness. */
  'poststarthook/priority-and-fairness-config-consumer',
  /** Requests go by them. */
  'poststarthook/priority-and-fairness-filter',
  /** The definitions of custom resources are followed. */
  'poststarthook/start-apiextensions-informers',
  /** The names of the definitions that were there at the start are settled. */
  'poststarthook/start-apiextensions-controllers',
  /** What was defined at the start is served. */
  'poststarthook/crd-informer-synced',
  /** The system namespaces and the `kubernetes` Service exist. */
  'poststarthook/bootstrap-controller',
  'poststarthook/rbac/bootstrap-roles',
  'poststarthook/scheduling/bootstrap-system-priority-classes',
  /** The flow schemas and priority levels that a cluster should have exist. */
  'poststarthook/priority-and-fairness-config-producer',
  /** `extension-apiserver-authentication` says whom to believe. */
  'poststarthook/start-cluster-authentication-info-controller',
  /** The definitions and the APIServices are followed for each other's sake. */
  'poststarthook/start-kube-aggregator-informers',
  /** Memory has the APIServices of all built-in group versions. */
  'poststarthook/apiservice-registration-controller',
  /** They have been seen with the condition Available. */
  'poststarthook/apiservice-status-available-controller',
  /** They are written as they have to be. */
  'poststarthook/kube-apiserver-autoregistration',
  /** Custom resources that were defined at the start have their APIServices. */
  'autoregister-completion',
  /** OpenAPI tells of all of them. */
  'poststarthook/apiservice-openapi-controller',
] as const;

export type StartPhase = (typeof START_PHASES)[number];

/** How far the start has come. A phase that was not reported is not finished. */
export class StartPhases {
  readonly #leftOut = new Set<StartPhase>();
  readonly #finished = new Map<StartPhase, () => boolean>();

  /** The phase is finished from now on, or whenever `isFinished` says so. */
  finish(phase: StartPhase, isFinished: () => boolean = () => true): void {
    this.#finished.set(phase, isFinished);
  }

  /** There is no such phase in this server. */
  leaveOut(phase: StartPhase): void {
    this.#leftOut.add(phase);
  }

  /** In the order in which endpoints list them. */
  get all(): readonly StartPhase[] {
    return START_PHASES.filter((phase) => !this.#leftOut.has(phase));
  }

  isFinished(phase: StartPhase): boolean {
    return this.#finished.get(phase)?.() ?? false;
  }
}

/** True from the first time on that `condition` holds. */
export function once(condition: () => boolean): () => boolean {
  let isMet = false;
  return () => (isMet ||= condition());
}
