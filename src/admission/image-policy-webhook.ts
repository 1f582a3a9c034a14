import { BackOff } from '../async/back-off';
import { TtlCache } from '../api/time/ttl-cache';
import { allContainers, podSpec } from './pod';
import { refuse, type AdmissionAttributes, type AdmissionPlugin } from './plugin';

/** The `imagePolicy` of the plugin's configuration; times in milliseconds. */
export interface ImagePolicy {
  /** Path of the kubeconfig that leads to the backend. */
  readonly backendConfigFile: string;
  readonly allowTtlMs: number;
  readonly denyTtlMs: number;
  readonly retryBackoffMs: number;
  /** What holds when the backend gives no answer. */
  readonly defaultAllow: boolean;
}

/** What the plugin asks and measures with. */
export interface ImagePolicyDependencies {
  /** Sends an ImageReview and returns the reply's JSON. Throws when there is none in time. */
  readonly post: (review: object, timeoutMs: number) => Promise<unknown>;
  /** How long the backend has, retries included. */
  readonly timeoutMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
}

interface ReviewStatus {
  readonly allowed: boolean;
  readonly reason: string;
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

const API_VERSION = 'imagepolicy.k8s.io/v1alpha1';
const AUDIT_PREFIX = 'imagepolicywebhook.image-policy.k8s.io/';
const FAILED_OPEN_ANNOTATION = 'alpha.image-policy.k8s.io/failed-open';
const MAX_REMEMBERED = 1024;
const TRIES = 5;
const BACKOFF_FACTOR = 1.5;

function inRange(name: string, value: unknown, unitMs: number, standard: number, least: number, most: number): number {
  if (value === undefined || value === 0) return standard;
  const milliseconds = Number(value) * unitMs;
  // -1 turns the matter off.
  if (value === -1) return 0;
  if (milliseconds >= least && milliseconds <= most) return milliseconds;
  throw new Error(`imagePolicy.${name}: valid value is between ${least}ms and ${most}ms, got ${milliseconds}ms`);
}

/** Reads the plugin's configuration (spec, "ImagePolicyWebhook configuration"). Throws what is wrong with it. */
export function parseImagePolicy(configuration: unknown): ImagePolicy {
  const { imagePolicy } = (configuration ?? {}) as { readonly imagePolicy?: Readonly<Record<string, unknown>> };
  if (typeof imagePolicy !== 'object' || imagePolicy === null) throw new Error('imagePolicy: Required value');
  // Older files spell the field so.
  const file = imagePolicy.backendConfigFile ?? imagePolicy.kubeConfigFile;
  if (typeof file !== 'string' || file === '') throw new Error('imagePolicy.kubeConfigFile: Required value');
  return {
    backendConfigFile: file,
    allowTtlMs: inRange('allowTTL', imagePolicy.allowTTL, 1000, 300_000, 1000, 1_800_000),
    denyTtlMs: inRange('denyTTL', imagePolicy.denyTTL, 1000, 30_000, 1000, 1_800_000),
    retryBackoffMs: inRange('retryBackoff', imagePolicy.retryBackoff, 1, 500, 1, 300_000),
    defaultAllow: imagePolicy.defaultAllow === true,
  };
}

/** The images of all containers, and those annotations that are meant for the backend. */
function reviewSpec({ object, namespace }: AdmissionAttributes): object {
  const containers = object === undefined ? [] : allContainers(podSpec(object)).map(({ image = '' }) => ({ image }));
  const annotations = Object.entries(object?.metadata.annotations ?? {}).filter(([key]) =>
    /^[^/]*\.image-policy\.k8s\.io\//.test(key),
  );
  return {
    containers,
    ...(annotations.length === 0 ? {} : { annotations: Object.fromEntries(annotations) }),
    namespace,
  };
}

/** Throws unless the reply is an ImageReview that says yes or no. */
function readStatus(response: unknown): ReviewStatus {
  const { apiVersion, kind, status } = (response ?? {}) as {
    readonly apiVersion?: unknown;
    readonly kind?: unknown;
    readonly status?: Readonly<Record<string, unknown>>;
  };
  if (kind !== 'ImageReview' || apiVersion !== API_VERSION)
    throw new Error('the backend did not answer with an ImageReview');
  const { allowed = false, reason = '', auditAnnotations = {} } = status ?? {};
  if (typeof allowed !== 'boolean' || typeof reason !== 'string')
    throw new Error('the backend answered with a malformed status');
  const annotations = Object.entries((auditAnnotations ?? {}) as Record<string, unknown>);
  return {
    allowed,
    reason,
    auditAnnotations: Object.fromEntries(annotations.map(([key, value]) => [key, String(value)])),
  };
}

/**
 * ImagePolicyWebhook: a backend says whether a pod may run its images. Answers are remembered for a while; a backend
 * that is down, slow or talks nonsense leaves the decision to the configuration.
 */
export function imagePolicyWebhook(policy: ImagePolicy, dependencies: ImagePolicyDependencies): AdmissionPlugin {
  const { post, timeoutMs, now, sleep } = dependencies;
  const remembered = new TtlCache<ReviewStatus>(MAX_REMEMBERED, now);

  const askBackend = async (spec: object, signal: AbortSignal): Promise<ReviewStatus> => {
    const deadline = now() + timeoutMs;
    const backOff = new BackOff({ first: policy.retryBackoffMs, factor: BACKOFF_FACTOR });
    for (let attempt = 1; ; attempt++) {
      try {
        const body = { apiVersion: API_VERSION, kind: 'ImageReview', metadata: {}, spec };
        return readStatus(await post(body, deadline - now()));
      } catch (error) {
        const wait = backOff.next();
        if (attempt === TRIES || signal.aborted || now() + wait >= deadline) throw error;
        await sleep(wait);
      }
    }
  };

  const review = async (spec: object, signal: AbortSignal): Promise<ReviewStatus> => {
    const key = JSON.stringify(spec);
    const known = remembered.get(key);
    if (known !== undefined) return known;
    const status = await askBackend(spec, signal);
    remembered.set(key, status, status.allowed ? policy.allowTtlMs : policy.denyTtlMs);
    return status;
  };

  return {
    name: 'ImagePolicyWebhook',
    operations: ['CREATE', 'UPDATE'],
    resources: ['pods', 'pods/ephemeralcontainers'],
    validate: async (attributes) => {
      let status: ReviewStatus;
      try {
        status = await review(reviewSpec(attributes), attributes.signal());
      } catch (error) {
        // The request itself is over: no decision is waited for.
        attributes.signal().throwIfAborted();
        if (!policy.defaultAllow) throw refuse(attributes, (error as Error).message);
        attributes.annotate(`${AUDIT_PREFIX}failed-open`, 'true');
        attributes.annotate(FAILED_OPEN_ANNOTATION, 'true');
        return;
      }
      for (const [key, value] of Object.entries(status.auditAnnotations))
        attributes.annotate(AUDIT_PREFIX + key, value);
      if (status.allowed) return;
      throw refuse(
        attributes,
        status.reason === ''
          ? 'one or more images rejected by webhook backend'
          : `image policy webhook backend denied one or more images: ${status.reason}`,
      );
    },
  };
}
