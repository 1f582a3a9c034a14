import { qualifiedResource, type GroupResource } from '../errors/status-error';
import type { KubeObject } from '../object';
import type { Steps } from '../parts';
import { parseQuantity, type Quantity } from '../quantity/quantity';
import { isNativeResource, podResources, podTotal, type ContainerResources } from './pod-resources';
import type { ResourceList } from './resource-list';
import { isPauseDue } from '../steps/pace';
import { podMatchesScope, type ScopeRequirement } from './scopes';

/** What objects of one resource cost in terms of quotas. */
export interface QuotaEvaluator {
  /** Whether an update can change what an object costs. */
  readonly countsUpdates: boolean;
  /** Whether a name in a quota's `hard` speaks of this resource. */
  readonly measures: (name: string) => boolean;
  readonly usage: (object: KubeObject) => Steps<ResourceList>;
  readonly matchesScope: (object: KubeObject, scope: ScopeRequirement) => Steps<boolean>;
  /** Those of the limited names that the object must say something about, and does not; sorted. */
  readonly missing: (object: KubeObject, limited: readonly string[]) => Steps<readonly string[]>;
}

/** What takes no steps to know. */
// eslint-disable-next-line require-yield
function* known<Result>(result: Result): Steps<Result> {
  return result;
}

const ONE: Quantity = { nanos: parseQuantity('1').nanos, format: 'decimalSI' };

function count(number: number): Quantity {
  return parseQuantity(String(number));
}

/** Resources that have been limited by their plain names since before `count/` was there. */
const PLAIN_NAMES = new Set(['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets']);

function objectCount(of: GroupResource): QuotaEvaluator {
  const name = qualifiedResource(of);
  const names = [`count/${name}`, ...(of.group === '' && PLAIN_NAMES.has(name) ? [name] : [])];
  const usage = new Map(names.map((one) => [one, ONE]));
  return {
    countsUpdates: false,
    measures: (wanted) => names.includes(wanted),
    usage: () => known(usage),
    matchesScope: () => known(false),
    missing: () => known([]),
  };
}

const POD_NAMES = new Set([
  'count/pods',
  'pods',
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
]);
const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'];
/** When one of these is limited, each container must say how much it needs. */
const TO_BE_SPECIFIED = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']);
const REQUESTS = 'requests.';
const LIMITS = 'limits.';
const HUGE_PAGES = 'hugepages-';

function* computeUsage(requests: ResourceList, limits: ResourceList): Steps<Map<string, Quantity>> {
  const usage = new Map<string, Quantity>();
  for (const [name, quantity] of requests) {
    if (isPauseDue()) yield;
    if (COMPUTE.includes(name) || name.startsWith(HUGE_PAGES)) {
      usage.set(name, quantity);
      usage.set(REQUESTS + name, quantity);
    } else if (!isNativeResource(name)) {
      usage.set(REQUESTS + name, quantity);
    }
  }
  for (const [name, quantity] of limits) {
    if (isPauseDue()) yield;
    if (COMPUTE.includes(name)) usage.set(LIMITS + name, quantity);
  }
  return usage;
}

/** A pod that has ended, or that should long have been gone, uses nothing but its place in the store. */
function isOver({ metadata, status }: KubeObject, now: number): boolean {
  const { phase } = (status ?? {}) as { readonly phase?: string };
  if (phase === 'Failed' || phase === 'Succeeded') return true;
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  if (!deletionTimestamp || deletionGracePeriodSeconds === undefined) return false;
  return now > Date.parse(deletionTimestamp) + Number(deletionGracePeriodSeconds) * 1000;
}

function pods(now: () => number): QuotaEvaluator {
  return {
    countsUpdates: false,
    measures: (name) =>
      POD_NAMES.has(name) ||
      name.startsWith(HUGE_PAGES) ||
      name.startsWith(REQUESTS + HUGE_PAGES) ||
      (name.startsWith(REQUESTS) && !isNativeResource(name)),
    *usage(pod) {
      if (isOver(pod, now())) return new Map([['count/pods', ONE]]);
      const spec = podResources(pod);
      const [requests, limits] = [yield* podTotal(spec, 'requests'), yield* podTotal(spec, 'limits')];
      return (yield* computeUsage(requests, limits)).set('pods', ONE).set('count/pods', ONE);
    },
    matchesScope: podMatchesScope,
    *missing(pod, limited) {
      const wanted = limited.filter((name) => TO_BE_SPECIFIED.has(name));
      if (wanted.length === 0) return [];
      const { containers, initContainers } = podResources(pod);
      const missing = new Set<string>();
      for (const list of [containers, initContainers]) {
        for (const { resources } of list ?? []) {
          if (isPauseDue()) yield;
          for (const name of wanted) if (!isSpecified(resources, name)) missing.add(name);
        }
      }
      return [...missing].sort();
    },
  };
}

/** `name`: one of those that are {@link TO_BE_SPECIFIED}. */
function isSpecified(resources: ContainerResources['resources'], name: string): boolean {
  const { requests, limits } = resources ?? {};
  if (name.startsWith(LIMITS)) return limits?.[name.slice(LIMITS.length)] !== undefined;
  return requests?.[name.replace(REQUESTS, '')] !== undefined;
}

const SERVICE_NAMES = new Set(['count/services', 'services', 'services.nodeports', 'services.loadbalancers']);

const services: QuotaEvaluator = {
  countsUpdates: true,
  measures: (name) => SERVICE_NAMES.has(name),
  usage: (service) => {
    const spec = (service.spec ?? {}) as {
      readonly type?: string;
      readonly ports?: readonly object[];
      readonly allocateLoadBalancerNodePorts?: boolean;
    };
    const balanced = spec.type === 'LoadBalancer';
    const onNodes = spec.type === 'NodePort' || (balanced && spec.allocateLoadBalancerNodePorts !== false);
    return known<ResourceList>(
      new Map([
        ['services', ONE],
        ['count/services', ONE],
        ['services.nodeports', count(onNodes ? (spec.ports ?? []).length : 0)],
        ['services.loadbalancers', count(balanced ? 1 : 0)],
      ]),
    );
  },
  matchesScope: () => known(false),
  missing: () => known([]),
};

const CLAIM_NAMES = new Set(['count/persistentvolumeclaims', 'persistentvolumeclaims', 'requests.storage']);
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';
/** `gold.storageclass.storage.k8s.io/requests.storage`: the same per storage class. */
const PER_CLASS = '.storageclass.storage.k8s.io/';

const persistentVolumeClaims: QuotaEvaluator = {
  countsUpdates: true,
  measures: (name) =>
    CLAIM_NAMES.has(name) ||
    name.endsWith(`${PER_CLASS}requests.storage`) ||
    name.endsWith(`${PER_CLASS}persistentvolumeclaims`),
  usage: ({ metadata, spec }) => {
    const { storageClassName, resources } = (spec ?? {}) as {
      readonly storageClassName?: string;
      readonly resources?: { readonly requests?: { readonly storage?: string } };
    };
    const storageClass = metadata.annotations?.[CLASS_ANNOTATION] ?? storageClassName ?? '';
    const size = resources?.requests?.storage;
    const usage = new Map([
      ['persistentvolumeclaims', ONE],
      ['count/persistentvolumeclaims', ONE],
    ]);
    if (storageClass !== '') usage.set(`${storageClass}${PER_CLASS}persistentvolumeclaims`, ONE);
    if (size !== undefined) {
      usage.set('requests.storage', parseQuantity(size));
      if (storageClass !== '') usage.set(`${storageClass}${PER_CLASS}requests.storage`, parseQuantity(size));
    }
    return known<ResourceList>(usage);
  },
  matchesScope: () => known(false),
  missing: () => known([]),
};

/** Reviews and events pass by: they are not kept, or not for long. */
const UNCOUNTED = new Set([
  'bindings',
  'componentstatuses',
  'events',
  'events.events.k8s.io',
  'tokenreviews.authentication.k8s.io',
  'selfsubjectreviews.authentication.k8s.io',
  'subjectaccessreviews.authorization.k8s.io',
  'selfsubjectaccessreviews.authorization.k8s.io',
  'localsubjectaccessreviews.authorization.k8s.io',
  'selfsubjectrulesreviews.authorization.k8s.io',
]);

/** The evaluator of a resource; undefined for those that no quota counts. `now`: milliseconds since the epoch. */
export function quotaEvaluator(of: GroupResource, now: () => number): QuotaEvaluator | undefined {
  const name = qualifiedResource(of);
  if (UNCOUNTED.has(name)) return undefined;
  switch (name) {
    case 'pods':
      return pods(now);
    case 'services':
      return services;
    case 'persistentvolumeclaims':
      return persistentVolumeClaims;
    default:
      return objectCount(of);
  }
}
