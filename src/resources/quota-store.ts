import type { KubeObject } from '../api/object';
import { storageEncoder } from '../registry/stored-object';
import type { RegistryCache } from '../storage/cache/cache';
import type { Revision, Store } from '../storage/store';
import type { OwnResource } from './own-resources';
import type { RegistryReader } from './registry-reader';

const QUOTAS = 'resourcequotas';

export type UsedWrite =
  | { readonly ok: true; readonly quota: KubeObject }
  /** Another writer was faster: what stands there now; undefined when the quota is gone. */
  | { readonly ok: false; readonly current: KubeObject | undefined };

/** The quotas as admission reads and writes them. */
export interface QuotaStore {
  /** The namespace's quotas as memory has them; may be behind. */
  readonly list: (namespace: string) => readonly KubeObject[];
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
  const encode = storageEncoder(quotas.registry.definition);
  return {
    list: (namespace) => [...reader.list(QUOTAS, namespace)],
    putUsed: async (quota, used) => {
      const { namespace = '', name = '', resourceVersion } = quota.metadata;
      const updated = { ...quota, status: { ...(quota.status as object | undefined), used } };
      const key = `${keyRoot}${QUOTAS}/${namespace}/${name}`;
      const { value } = encode(quotas.own(quota, updated));
      const outcome = await store.update(key, value, Number(resourceVersion) as Revision);
      const toObject = (stored: NonNullable<Awaited<ReturnType<Store['get']>>>) => cache.toEntry(QUOTAS, stored).object;
      if (outcome.ok) return { ok: true, quota: toObject({ key, value, revision: outcome.revision }) };
      return { ok: false, current: outcome.current && toObject(outcome.current) };
    },
  };
}
