import { dayOf, INVALID_SINCE_LABEL, isDay, LAST_USED_LABEL, TRACKING_CONFIG_MAP } from '../api/legacy-tokens';
import type { KubeObject } from '../api/object';
import { isStatus, startController, type Controller, type ControllerParts, type ControllerRun } from './controller';

export interface LegacyTokenCleanerOptions {
  /** `--legacy-service-account-token-clean-up-period`: unused for so long, a token is marked, and after as long again it goes. */
  readonly periodMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly roundMs?: number;
}

const DAY_MS = 24 * 60 * 60_000;
const SECRETS = `/api/v1/secrets?fieldSelector=${encodeURIComponent('type=kubernetes.io/service-account-token')}`;
const TRACKING = `/api/v1/namespaces/kube-system/configmaps/${TRACKING_CONFIG_MAP}`;
const ACCOUNT_ANNOTATION = 'kubernetes.io/service-account.name';

/**
 * Cleans up token secrets that were made for an account by the control plane and that are out of use: by clients for so long, and by pods. A secret
 * that was made by hand is never touched.
 */
export function startLegacyTokenCleaner(parts: ControllerParts, options: LegacyTokenCleanerOptions): Controller {
  const { roundMs = DAY_MS } = options;
  return startController('legacy-service-account-token-cleaner', parts, (run) => {
    run.every(roundMs, () => lookAtAll(run, options));
    return async (key) => lookAt(key, run, options);
  });
}

/** Nothing is known of uses before the tracking began, on whichever hour of its day. */
async function lookAtAll({ client, signal, queue }: ControllerRun, options: LegacyTokenCleanerOptions): Promise<void> {
  const { periodMs, now } = options;
  const tracking = await client.get(TRACKING, signal).catch((error: unknown) => {
    // A server that does not track.
    if (isStatus(error, 404)) return undefined;
    throw error;
  });
  const since = (tracking?.data as { readonly since?: string } | undefined)?.since;
  if (!isDay(since) || now() < Date.parse(since) + DAY_MS + periodMs) return;
  for await (const { items } of client.pages(SECRETS, signal)) {
    for (const secret of items) {
      const { namespace = '', name = '' } = secret.metadata;
      if (isUnused(secret, options)) queue.add(`${namespace}/${name}`);
    }
  }
}

function isUnused({ metadata }: KubeObject, { periodMs, now }: LegacyTokenCleanerOptions): boolean {
  const from = now() - periodMs;
  if (metadata.deletionTimestamp || !(Date.parse(metadata.creationTimestamp ?? '') < from)) return false;
  const lastUsed = metadata.labels?.[LAST_USED_LABEL];
  if (lastUsed === undefined) return true;
  return isDay(lastUsed) && lastUsed < dayOf(from);
}

async function lookAt(key: string, run: ControllerRun, options: LegacyTokenCleanerOptions): Promise<void> {
  const { client, signal } = run;
  const [namespace = '', name = ''] = key.split('/');
  const path = `/api/v1/namespaces/${namespace}/secrets/${encodeURIComponent(name)}`;
  try {
    const secret = await client.get(path, signal);
    if (!isUnused(secret, options)) return;
    const { labels, uid, resourceVersion } = secret.metadata;
    const invalidSince = labels?.[INVALID_SINCE_LABEL];
    // Its time has not come; the questions below cost requests.
    if (isDay(invalidSince) && invalidSince >= dayOf(options.now() - options.periodMs)) return;
    if (!(await isGenerated(secret, run)) || (await isMounted(secret, run))) return;
    if (isDay(invalidSince))
      return void (await client.delete(path, { preconditions: { uid, resourceVersion } }, signal));
    const marked = { ...labels, [INVALID_SINCE_LABEL]: dayOf(options.now()) };
    await client.update(path, { ...secret, metadata: { ...secret.metadata, labels: marked } }, signal);
  } catch (error) {
    if (!isStatus(error, 404)) throw error;
  }
}

/** Its account names it, which the control plane has written there. */
async function isGenerated({ metadata }: KubeObject, { client, signal }: ControllerRun): Promise<boolean> {
  const { namespace = '', name = '', annotations } = metadata;
  const account = annotations?.[ACCOUNT_ANNOTATION] ?? '';
  if (account === '') return false;
  const found = await client.get(
    `/api/v1/namespaces/${namespace}/serviceaccounts/${encodeURIComponent(account)}`,
    signal,
  );
  const { secrets } = found as { readonly secrets?: readonly { readonly name?: string }[] | null };
  return secrets?.some((reference) => reference.name === name) ?? false;
}

async function isMounted({ metadata }: KubeObject, { client, signal }: ControllerRun): Promise<boolean> {
  const { namespace = '', name = '' } = metadata;
  for await (const { items } of client.pages(`/api/v1/namespaces/${namespace}/pods`, signal)) {
    if (items.some(({ spec }) => refersTo(spec, name))) return true;
  }
  return false;
}

/** Fields of pods that hold references to secrets; a volume's and a projected source's among them. */
const REFERENCES: ReadonlySet<string> = new Set(['secret', 'secretRef', 'secretKeyRef', 'imagePullSecrets']);

/** Whether a part of a pod refers to the secret anywhere. */
function refersTo(part: unknown, secret: string, isReference = false): boolean {
  if (typeof part !== 'object' || part === null) return false;
  return Object.entries(part).some(([field, value]) => {
    if (value === secret && (field === 'secretName' || (isReference && field === 'name'))) return true;
    const inList = Array.isArray(part) && isReference;
    return refersTo(value, secret, inList || REFERENCES.has(field) || field.endsWith('SecretRef'));
  });
}
