import { StatusError } from '../api/errors/status-error';
import { TokenBucket } from '../async/token-bucket';
import type { AdmissionAttributes, AdmissionPlugin } from './plugin';

const LIMIT_TYPES = ['Server', 'Namespace', 'User', 'SourceAndObject'] as const;
type LimitType = (typeof LIMIT_TYPES)[number];

/** One line of the plugin's configuration (spec, "Limits"). */
export interface EventLimit {
  readonly type: LimitType;
  readonly qps: number;
  readonly burst: number;
  /** How many keys are remembered; those unused the longest are forgotten first. */
  readonly cacheSize: number;
}

const DEFAULT_CACHE_SIZE = 4096;

interface EventFields {
  readonly source?: { readonly component?: string; readonly host?: string };
  readonly reportingComponent?: string;
  readonly reportingInstance?: string;
  readonly involvedObject?: {
    readonly kind?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly uid?: string;
    readonly apiVersion?: string;
  };
}

/** Requests with the same key share a bucket. */
const keyOf: { readonly [Type in LimitType]: (attributes: AdmissionAttributes) => string } = {
  Server: () => '',
  Namespace: ({ namespace }) => namespace,
  User: ({ user }) => user.name,
  SourceAndObject: ({ object }) => {
    const { source = {}, involvedObject: of = {} } = (object ?? {}) as EventFields;
    return [source.component, source.host, of.kind, of.namespace, of.name, of.uid, of.apiVersion].join('');
  },
};

/** Reads the plugin's configuration. Throws with all that is wrong with it. */
export function parseEventRateLimit(configuration: unknown): readonly EventLimit[] {
  const { limits } = (configuration ?? {}) as { readonly limits?: readonly Partial<EventLimit>[] };
  if (!Array.isArray(limits) || limits.length === 0) throw new Error('limits: Invalid value: must not be empty');
  const problems: string[] = [];
  const parsed = (limits as readonly Partial<EventLimit>[]).map(
    ({ type, qps = 0, burst = 0, cacheSize = 0 }, index) => {
      if (type === undefined || !LIMIT_TYPES.includes(type)) {
        problems.push(`limits[${index}].type: must be one of ${LIMIT_TYPES.join(', ')}`);
      }
      if (!(qps > 0)) problems.push(`limits[${index}].qps: must be positive`);
      if (!(burst > 0)) problems.push(`limits[${index}].burst: must be positive`);
      if (burst < qps) problems.push(`limits[${index}].burst: must not be less than qps`);
      if (cacheSize < 0) problems.push(`limits[${index}].cacheSize: must not be negative`);
      return { type: type ?? 'Server', qps, burst, cacheSize: cacheSize || DEFAULT_CACHE_SIZE };
    },
  );
  if (problems.length > 0) throw new Error(problems.join('; '));
  return parsed;
}

function limiter({ type, qps, burst, cacheSize }: EventLimit, now: () => number) {
  const buckets = new Map<string, TokenBucket>();
  return (attributes: AdmissionAttributes): string | undefined => {
    const key = keyOf[type](attributes);
    const bucket = buckets.get(key) ?? new TokenBucket(qps, burst, now());
    buckets.delete(key);
    buckets.set(key, bucket);
    if (buckets.size > cacheSize) buckets.delete(buckets.keys().next().value ?? '');
    return bucket.take(now()) ? undefined : `limit reached on type ${type} for key ${key}`;
  };
}

/** EventRateLimit: components gone wild do not flood the store with events. `now`: milliseconds. */
export function eventRateLimit(
  limits: readonly EventLimit[],
  now: () => number = performance.now.bind(performance),
): AdmissionPlugin {
  const limiters = limits.map((limit) => limiter(limit, now));
  return {
    name: 'EventRateLimit',
    operations: ['CREATE', 'UPDATE'],
    resources: ['events', 'events.events.k8s.io'],
    validate: async (attributes) => {
      if (attributes.dryRun) return;
      // Every limit counts the event, also when another one has refused it.
      const problem = limiters.map((limit) => limit(attributes)).findLast((one) => one !== undefined);
      if (problem !== undefined) throw new StatusError(429, 'TooManyRequests', `Too many requests: ${problem}`);
    },
  };
}
