import { isDeepStrictEqual } from 'node:util';
import type { GroupResource } from '../api/errors/status-error';
import type { KubeObject } from '../api/object';
import { parseQuantity } from '../api/quantity/quantity';
import { atOnce, type Steps } from '../api/parts';
import { addResources, formatResourceList, parseResourceList, type ResourceList } from '../api/quota/resource-list';
import { scopesOf } from '../api/quota/scopes';
import { stepsInTurns } from '../async/steps';
import { Turn } from '../async/turn';
import type { ApiClient, ListOf } from '../client/api-client';
import { objectKey } from '../client/informer';
import {
  isStatus,
  startController,
  type Controller,
  type ControllerParts,
  type ControllerRun,
  type Reconcile,
} from './controller';
import { increaseOf, measuresOf, recountedUsage, usageOf, type Measure } from './resource-quota-usage';

interface QuotaStatus {
  readonly hard?: Readonly<Record<string, string>>;
  readonly used?: Readonly<Record<string, string>>;
}

/** A quota as it was last seen, with the charges of the last moments. */
interface Watched {
  readonly quota: KubeObject;
  readonly charges: readonly { readonly at: number; readonly amounts: ResourceList }[];
}

/** A charge is followed by its object's transaction at once; after this it has come or will not come. */
const SETTLE_MS = 2000;
/** Room is given back soon; what has been added is charged already, and only checked. */
const AFTER_DELETION_MS = 100;
const AFTER_CHANGE_MS = 5000;
const RESYNC_MS = 300_000;

function hardOf({ spec }: KubeObject): Readonly<Record<string, string>> {
  return (spec as QuotaStatus | undefined)?.hard ?? {};
}

function statusOf({ status }: KubeObject): QuotaStatus {
  return status ?? {};
}

/** The collection of a resource over all namespaces, or in one. */
async function pathOf(
  client: ApiClient,
  { group, resource }: GroupResource,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const within = namespace === undefined ? '' : `/namespaces/${namespace}`;
  if (group === '') return `/api/v1${within}/${resource}`;
  const { preferredVersion } = await client.get<{ readonly preferredVersion: { readonly groupVersion: string } }>(
    `/apis/${group}`,
    signal,
  );
  return `/apis/${preferredVersion.groupVersion}${within}/${resource}`;
}

/** Works through many names and objects some milliseconds at a time. */
function inTurns<Result>(work: Steps<Result>): Promise<Result> {
  return stepsInTurns(work, new Turn('a quota is counted'));
}

function isNotFound(error: unknown): boolean {
  return isStatus(error, 404);
}

/**
 * Keeps every quota's status true: takes over a changed `hard`, recounts when something is deleted or changed, and now
 * and then in any case. Admission raises `used` itself; this gives back, and mends what a crash has left.
 */
export function startResourceQuotaController(parts: ControllerParts): Controller {
  return startController('resource-quota', parts, keepQuotas);
}

function keepQuotas({ client, signal, queue, follow, background, every }: ControllerRun): Reconcile {
  const watched = new Map<string, Watched>();
  const byNamespace = new Map<string, Set<string>>();
  /** When a quota is due at the latest; milliseconds since the epoch. */
  const due = new Map<string, number>();
  const followed = new Set<string>();

  const count = async (quota: KubeObject, measure: Measure): Promise<ResourceList> => {
    // Only pods have scopes; what has none is outside of any.
    if (measure.onlyNumber && scopesOf(quota).length > 0) return inTurns(usageOf(quota, measure, []));
    try {
      const path = await pathOf(client, measure.of, quota.metadata.namespace, signal);
      if (!measure.onlyNumber) {
        let used = await inTurns(usageOf(quota, measure, []));
        for await (const { items } of client.pages(path, signal)) {
          used = await inTurns(addResources(used, await inTurns(usageOf(quota, measure, items))));
        }
        return used;
      }
      const { items, metadata } = await client.get<ListOf>(`${path}?limit=1`, signal);
      const number = parseQuantity(String(items.length + Number(metadata.remainingItemCount ?? 0)));
      return new Map(measure.names.map((name) => [name, number]));
    } catch (error) {
      // No such resource: nothing of it is used.
      if (isNotFound(error)) return inTurns(usageOf(quota, measure, []));
      throw error;
    }
  };

  const sync = async (key: string): Promise<void> => {
    due.delete(key);
    const known = watched.get(key);
    if (known === undefined) return;
    const { quota, charges } = known;
    const hard = hardOf(quota);
    const startedAt = Date.now();
    let counted: ResourceList = new Map();
    for (const measure of await inTurns(measuresOf(Object.keys(hard), Date.now))) {
      counted = await inTurns(addResources(counted, await count(quota, measure)));
    }
    let recent: ResourceList = new Map();
    for (const { at, amounts } of charges) {
      if (at > startedAt - SETTLE_MS) recent = await inTurns(addResources(recent, amounts));
    }
    const status = statusOf(quota);
    const current = await inTurns(parseResourceList(status.used));
    const used = await inTurns(recountedUsage(counted, current, recent));
    if (recent.size > 0) schedule(key, SETTLE_MS);
    const wanted = { hard, used: await inTurns(formatResourceList(used)) };
    if (isDeepStrictEqual({ hard: status.hard ?? {}, used: status.used ?? {} }, wanted)) return;
    const { namespace = '', name = '' } = quota.metadata;
    try {
      // Compared by resourceVersion: a charge that came in between wins, and the watch brings it here.
      await client.update(
        `/api/v1/namespaces/${namespace}/resourcequotas/${name}/status`,
        { apiVersion: 'v1', kind: 'ResourceQuota', ...quota, status: wanted },
        signal,
      );
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isStatus(error, 409)) throw error;
      schedule(key, AFTER_DELETION_MS);
    }
  };
  const schedule = (key: string, delayMs: number): void => {
    const at = Date.now() + delayMs;
    if ((due.get(key) ?? Infinity) <= at) return;
    due.set(key, at);
    queue.addAfter(key, delayMs);
  };

  /** Follows a resource from when the first quota limits it. */
  const followLimited = (of: GroupResource): void => {
    const id = `${of.resource}.${of.group}`;
    if (followed.has(id)) return;
    followed.add(id);
    const changed =
      (delayMs: number) =>
      ({ metadata }: KubeObject): void => {
        for (const key of byNamespace.get(metadata.namespace ?? '') ?? []) schedule(key, delayMs);
      };
    background(async () => {
      try {
        const path = await pathOf(client, of, undefined, signal);
        follow({
          path,
          representation: 'metadata',
          keep: ({ metadata: { namespace = '', name = '', resourceVersion = '' } }) => ({
            metadata: { namespace, name, resourceVersion },
          }),
          changed: changed(AFTER_CHANGE_MS),
          deleted: changed(AFTER_DELETION_MS),
        });
      } catch (error) {
        // Tried again with the next quota that asks for it; until then the periodic recount has to do.
        followed.delete(id);
        if (!isNotFound(error)) throw error;
      }
    });
  };

  const seen = (quota: KubeObject): void => {
    const key = objectKey(quota);
    const before = watched.get(key);
    const now = Date.now();
    const usedOf = (one: KubeObject): ResourceList => atOnce(parseResourceList(statusOf(one).used));
    const used = usedOf(quota);
    const increase = before === undefined ? used : atOnce(increaseOf(usedOf(before.quota), used));
    const charges = (before?.charges ?? []).filter(({ at }) => at > now - SETTLE_MS);
    watched.set(key, {
      quota,
      charges: increase.size === 0 ? charges : [...charges, { at: now, amounts: increase }],
    });
    const namespace = quota.metadata.namespace ?? '';
    const keys = byNamespace.get(namespace) ?? new Set();
    byNamespace.set(namespace, keys.add(key));
    const hard = hardOf(quota);
    for (const { of } of atOnce(measuresOf(Object.keys(hard), Date.now))) followLimited(of);
    const isCurrent = isDeepStrictEqual(statusOf(quota).hard ?? {}, hard);
    if (before === undefined || !isCurrent) queue.add(key);
    else schedule(key, AFTER_CHANGE_MS);
  };
  const gone = (quota: KubeObject): void => {
    const key = objectKey(quota);
    const namespace = quota.metadata.namespace ?? '';
    const keys = byNamespace.get(namespace);
    watched.delete(key);
    keys?.delete(key);
    if (keys?.size === 0) byNamespace.delete(namespace);
  };
  follow({ path: '/api/v1/resourcequotas', changed: seen, deleted: gone });
  every(RESYNC_MS, () => {
    for (const key of watched.keys()) queue.add(key);
  });
  return sync;
}
