import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StatusError, type Status } from '../../src/api/errors/status-error';
import { defineKind, type KindInput } from '../../src/api/kinds/define-kind';
import type { KindDefinition } from '../../src/api/kinds/kind-definition';
import type { KubeObject } from '../../src/api/object';
import { ResourceRegistry, type ResourceRegistryOptions } from '../../src/registry/resource-registry';
import type { OperationContext, UpdateHooks } from '../../src/registry/types';
import type { RegistryCache } from '../../src/storage/cache/cache';
import type { RegistryCacheOptions } from '../../src/storage/cache/cache-options';
import { startRegistryCache } from '../../src/storage/cache/registry-cache';
import { openEmbeddedStore } from '../../src/storage/embedded/embedded-store';
import type { Store } from '../../src/storage/store';

/** With a signal of its own. */
interface SignalledOperation extends OperationContext {
  readonly signal: AbortSignal;
}

export const context: SignalledOperation = { signal: new AbortController().signal, dryRun: false };
export const dryRun: OperationContext = { ...context, dryRun: true };
export const scope = { namespace: 'n' };

/** A small namespaced kind in the core group; what a test is about is overridden. */
export function thingKind(input: Partial<KindInput> = {}): KindDefinition {
  return defineKind({ group: '', kind: 'Thing', resource: 'things', namespaced: true, versions: ['v1'], ...input });
}

export class RegistryFixture {
  private constructor(
    private readonly folder: string,
    readonly store: Store,
    readonly cache: RegistryCache,
  ) {}

  static async open(options: Partial<RegistryCacheOptions> = {}): Promise<RegistryFixture> {
    const folder = await mkdtemp(join(tmpdir(), 'registry-'));
    const store = await openEmbeddedStore({ path: join(folder, 'store') });
    const cache = await startRegistryCache(store, { prefix: '/registry/', freezeObjects: true, ...options });
    return new RegistryFixture(folder, store, cache);
  }

  registry(definition: KindDefinition, options: Partial<ResourceRegistryOptions> = {}): ResourceRegistry {
    const decode = (value: Buffer): KubeObject => JSON.parse(value.toString('utf8')) as KubeObject;
    return new ResourceRegistry({ definition, store: this.store, cache: this.cache, decode, ...options });
  }

  async close(): Promise<void> {
    await this.cache.close();
    await this.store.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

export function thing(name: string, fields: Readonly<Record<string, unknown>> = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'Thing', metadata: { name }, ...fields };
}

/** An update that changes the object by a function, as a patch does. */
export function patching(change: (current: KubeObject) => KubeObject): UpdateHooks {
  return { change: async (current) => change(current ?? thing('')), retryOnConflict: true };
}

/** An update by a whole object, as a PUT does. */
export function putting(object: KubeObject): UpdateHooks {
  const { uid, resourceVersion } = object.metadata;
  return {
    change: async () => object,
    retryOnConflict: !resourceVersion,
    ...(uid === undefined ? {} : { preconditions: { uid } }),
  };
}

/** The Status that a call is refused with. */
export async function refusal(call: unknown): Promise<Status> {
  try {
    await call;
  } catch (error) {
    if (error instanceof StatusError) return error.status;
    throw error;
  }
  throw new Error('the call was not refused');
}
