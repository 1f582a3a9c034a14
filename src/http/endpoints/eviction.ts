import { selectsLabels, type Labels, type LabelSelector } from '../../api/selectors/label-selector';
import { badRequest, forbidden, StatusError } from '../../api/errors/status-error';
import type { GroupVersionKind, KubeObject } from '../../api/object';
import type { StructType } from '../../api/schema/model';
import type { Steps } from '../../api/parts';
import { formatTime } from '../../api/time/rfc3339';
import { takeFewOrAll } from '../../registry/pace';
import type { CacheEntry } from '../../storage/cache/cache';
import { checkDeleteOptions, type SentDeleteOptions } from '../request/delete-options';
import type { Endpoint, EndpointDependencies, ResourceRequest } from './endpoint';
import type { RegistryOperations } from '../../resources/served-resource';
import { statusResponse } from '../response/api-response';
import { parseWriteOptions } from '../request/write-options';
import { admissionHooks } from './admission-hooks';
import { decodeAs } from './decode-request';
import { objectOf } from './read-object';
import { operationOf, scopeOf } from './resource-request';

/** The wire's Eviction, policy/v1 and v1beta1. */
interface Eviction extends KubeObject {
  readonly deleteOptions?: SentDeleteOptions;
}

interface Pod extends KubeObject {
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type?: string; readonly status?: string }[];
  };
}

/** The fields of a disruption budget that an eviction reads and writes. */
interface DisruptionBudget extends KubeObject {
  readonly spec?: {
    readonly selector?: LabelSelector;
    readonly unhealthyPodEvictionPolicy?: 'AlwaysAllow' | 'IfHealthyBudget';
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly disruptionsAllowed?: number;
    readonly desiredHealthy?: number;
    readonly currentHealthy?: number;
    readonly disruptedPods?: Readonly<Record<string, string>>;
  };
}

/** Under which the server owns what it writes into budgets. */
const OWN_MANAGER = 'kube-apiserver';
const EVICTION_VERSIONS = ['v1beta1', 'v1'];
/** Evictions that the budget's controller has not confirmed yet. */
const MAX_DISRUPTED_PODS = 2000;
/** Pods that do not serve (yet, or any more) are not protected. */
const UNPROTECTED_PHASES: ReadonlySet<string> = new Set(['Pending', 'Succeeded', 'Failed']);

/** Deletes a pod if the disruption budget that selects it allows it; else 429 with the budget's reason. */
export const evictPod: Endpoint = async (request, dependencies) => {
  const { context } = request;
  const [expected, ...alternatives] = evictionKinds(dependencies);
  if (expected === undefined) throw new Error('the schema has no Eviction');
  const { object, options } = await decodeAs(request, dependencies, { ...expected, alternatives }, () =>
    parseWriteOptions(context.info.query, 'CreateOptions'),
  );
  const eviction: Eviction = object;
  const { name } = context.info;
  if (eviction.metadata.name !== name) throw badRequest('name in URL does not match name in Eviction object');
  const find = async () => {
    const entry = await request.registry.get(scopeOf(request), name, {}, context.signal);
    await objectOf(entry, context);
    return entry;
  };
  // Whether there is such a pod is told before what is wrong with the options.
  let pod = await find();
  const { dryRun: isDryDeletion } = checkDeleteOptions(eviction.deleteOptions ?? {});
  const dryRun = options.dryRun || isDryDeletion;
  const admission = admissionHooks(request, dependencies, options.object, dryRun);
  const admitted: Eviction = await admission.mutate('CREATE', eviction, undefined);
  await admission.validate('CREATE', admitted, undefined);
  const deletion = checkDeleteOptions(admitted.deleteOptions ?? {});

  for (;;) {
    const passed = isProtected(pod.object) ? await passBudget(request, dependencies, pod, dryRun) : UNPROTECTED;
    const isGuarded = passed.asSeen && deletion.options.preconditions?.resourceVersion === undefined;
    const guard = { resourceVersion: pod.object.metadata.resourceVersion ?? '' };
    const deleteOptions = isGuarded
      ? { ...deletion.options, preconditions: { ...deletion.options.preconditions, ...guard } }
      : deletion.options;
    try {
      await request.registry.delete(scopeOf(request), name, deleteOptions, {}, operationOf(request, dryRun));
      return statusResponse(201, { status: 'Success', code: 201 });
    } catch (error) {
      if (!isGuarded || !isConflict(error)) throw error;
      const current = await find();
      if (current.revision === pod.revision) throw error;
      // The pod has changed: it may count now. One that a budget selects is for the client to try again.
      if (passed.budgetName !== undefined) throw beingProcessed(passed.budgetName);
      pod = current;
    }
  }
};

/** How a pod came to be free to go. */
interface Passage {
  /** Only as it was seen: it would not be free if it became ready meanwhile. */
  readonly asSeen: boolean;
  readonly budgetName?: string;
}

const UNPROTECTED: Passage = { asSeen: true };

function isConflict(error: unknown): boolean {
  return error instanceof StatusError && error.status.code === 409;
}

function evictionKinds({
  catalogue: { schema },
}: EndpointDependencies): readonly { readonly kind: GroupVersionKind; readonly type: StructType }[] {
  return EVICTION_VERSIONS.flatMap((version) => {
    const kind = { group: 'policy', version, kind: 'Eviction' };
    const type = schema.kind(kind.group, kind.version, kind.kind);
    return type === undefined ? [] : [{ kind, type }];
  });
}

function isProtected({ metadata, status }: Pod): boolean {
  return !metadata.deletionTimestamp && !UNPROTECTED_PHASES.has(status?.phase ?? '');
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false;
}

/** A pod that is not ready is not among the healthy ones, and costs the budget nothing while they are enough. */
function mayGoUnready({ spec, status = {} }: DisruptionBudget): boolean {
  const { currentHealthy = 0, desiredHealthy = 0 } = status;
  return spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow' || (desiredHealthy > 0 && currentHealthy >= desiredHealthy);
}

/** Throws 429 when the budget that selects the pod forbids the disruption. */
async function passBudget(
  request: ResourceRequest,
  dependencies: EndpointDependencies,
  pod: CacheEntry,
  dryRun: boolean,
): Promise<Passage> {
  const { catalogue, fieldOwnership, now } = dependencies;
  const served =
    catalogue.resolve('policy', 'v1beta1', 'poddisruptionbudgets') ??
    catalogue.resolve('policy', 'v1', 'poddisruptionbudgets');
  if (served?.registry === undefined) return { asSeen: false };
  const budgets = served.registry;
  const [budget, another] = await budgetsOf(request, budgets, pod);
  if (budget === undefined) return { asSeen: false };
  if (another !== undefined) {
    throw new StatusError(
      500,
      undefined,
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  }
  if (!isReady(pod.object) && mayGoUnready(budget.object)) return { asSeen: true, budgetName: budget.name };
  const evictedAt = formatTime(now() / 1000);
  await budgets.update(
    scopeOf(request),
    budget.name,
    {
      change: async (live) => {
        if (live === undefined) throw new Error('a budget that is not there cannot be spent');
        const updated = spend(live, pod.name, evictedAt);
        return fieldOwnership?.trackUpdate({ served, live, updated, manager: OWN_MANAGER }) ?? updated;
      },
      retryOnConflict: true,
    },
    operationOf(request, dryRun),
    {},
  );
  return { asSeen: false };
}

async function budgetsOf(
  request: ResourceRequest,
  budgets: RegistryOperations,
  pod: CacheEntry,
): Promise<readonly CacheEntry[]> {
  const { entries } = await budgets.list(scopeOf(request), {}, request.context.signal);
  return takeFewOrAll(selecting(entries, pod.object.metadata.labels ?? {}), { pace: request.context });
}

/** A namespace may have many budgets, and long ones. */
function* selecting(budgets: Iterable<CacheEntry>, labels: Labels): Steps<readonly CacheEntry[]> {
  const found: CacheEntry[] = [];
  for (const budget of budgets) {
    const parsing = budget.prepare();
    if (parsing !== undefined) yield* parsing;
    if (selects((budget.object as DisruptionBudget).spec?.selector, labels)) found.push(budget);
    yield;
  }
  return found;
}

/** As stored (v1beta1), an empty selector selects nothing. One as large as an object has room for is asked within 3 ms. */
function selects(selector: LabelSelector | undefined, labels: Labels): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return Object.keys(matchLabels).length + matchExpressions.length > 0 && selectsLabels(selector, labels);
}

/** The budget with one disruption less. Throws the 429 of a budget that is spent. */
function spend(budget: DisruptionBudget, podName: string, evictedAt: string): KubeObject {
  const { metadata, status = {} } = budget;
  const { disruptionsAllowed = 0, desiredHealthy = 0, currentHealthy = 0, disruptedPods = {} } = status;
  const name = metadata.name ?? '';
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0)) {
    throw beingProcessed(name);
  }
  const group = { group: 'policy', resource: 'poddisruptionbudget' };
  if (disruptionsAllowed < 0) throw forbidden(group, name, 'pdb disruptions allowed is negative');
  if (Object.keys(disruptedPods).length > MAX_DISRUPTED_PODS) {
    throw forbidden(group, name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  }
  if (disruptionsAllowed === 0) {
    throw overBudget(
      `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`,
    );
  }
  return {
    ...budget,
    status: {
      ...status,
      disruptionsAllowed: disruptionsAllowed - 1,
      disruptedPods: { ...disruptedPods, [podName]: evictedAt },
    },
  };
}

function beingProcessed(name: string): StatusError {
  return overBudget(`The disruption budget ${name} is still being processed by the server.`);
}

function overBudget(message: string): StatusError {
  return new StatusError(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message }],
  });
}
