import type { MaybePromise } from '../api/maybe-promise';
import type { KubeObject } from '../api/object';
import { isLarge } from '../api/parts';
import { runSteps } from '../async/steps';
import { asRead, storageEncoder } from '../registry/stored-object';
import type { RegistryCache } from '../storage/cache/cache';
import type { Revision, Store } from '../storage/store';
import type { OwnResource } from './own-resources';
import type { RegistryReader } from './registry-reader';

const QUOTAS = 'resourcequotas';
/** For the log, when it holds the loop. */
const WORK = 'a large quota';

export type UsedWrite =
  | { readonly ok: true; readonly quota: KubeObject }
  /** Another writer was faster: what stands there now; undefined when the quota is gone. */
  | { readonly ok: false; readonly current: KubeObject | undefined };

/** The quotas as admission reads and writes them. */
export interface QuotaStore {
  /** Whether memory has quotas of the namespace. */
  readonly hasAny: (namespace: string) => boolean;
  /** The namespace's quotas as memory has them; may be behind. */
  readonly list: (namespace: string) => MaybePromise<readonly KubeObject[]>;
  /** Whether memory has all that was written of quotas up to this revision. */
  readonly knows: (revision: Revision) => boolean;
  /** Puts `status.used`, if the quota is still the one that was given (by its resourceVersion). */
  readonly putUsed: (quota: KubeObject, used: Readonly<Record<string, string>>) => Promise<UsedWrite>;
}

/** What writing quotas takes. */
export interface QuotaStoreDependencies {
  readonly store: Store;
  readonly cache: RegistryCache;
  readonly keyRoot: string;
  readonly reader: RegistryReader;
  readonly quotas: OwnResource;
}

/** The quotas as admission reads them from memory, and writes them: one transaction that compares the revision. */
export function quotaStore(dependencies: QuotaStoreDependencies): QuotaStore {
  const { store, cache, keyRoot, reader, quotas } = dependencies;
  const { definition } = quotas.registry;
  const encode = storageEncoder(definition);
  return {
    hasAny: (namespace) => reader.hasAny(QUOTAS, namespace),
    list: (namespace) => reader.listInTurns(QUOTAS, namespace),
    knows: (revision) => reader.changed(QUOTAS) >= revision,
    putUsed: async (quota, used) => {
      const { namespace = '', name = '', resourceVersion } = quota.metadata;
      const updated = { ...quota, status: { ...(quota.status as object | undefined), used } };
      const key = `${keyRoot}${QUOTAS}/${namespace}/${name}`;
      const { object, value, isPlain } = isLarge(updated)
        ? await runSteps(encode.inSteps(await runSteps(quotas.ownInSteps(quota, updated), WORK)), WORK)
        : encode(quotas.own(quota, updated));
      const outcome = await store.update(key, value, Number(resourceVersion) as Revision);
      const toObject = (stored: NonNullable<Awaited<ReturnType<Store['get']>>>) => cache.toEntry(QUOTAS, stored).object;
      if (!outcome.ok) return { ok: false, current: outcome.current && toObject(outcome.current) };
      const { revision } = outcome;
      return { ok: true, quota: asRead(definition, object, revision, isPlain) ?? toObject({ key, value, revision }) };
    },
  };
}
