import type { CustomResourceDefinition } from '../api/custom/custom-resource-definition';
import type { KubeObject } from '../api/object';
import { apiServiceName, customService, deleteApiService, managedBy, putApiService } from '../bootstrap/api-services';
import { WorkQueue, type QueueMetrics } from '../async/work-queue';
import type { Logger } from '../observability/logger';
import type { ResourceRegistry } from '../registry/resource-registry';
import type { ResourceSink } from '../resources/resource-feed';

export interface CustomApiServicesOptions {
  /** Of the APIServices. */
  readonly registry: ResourceRegistry;
  readonly isBuiltIn: (group: string, version: string) => boolean;
  readonly queueMetrics?: (name: string, queue: WorkQueue) => QueueMetrics;
  readonly logger: Logger;
}

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** Definitions and APIServices come by two ways out of one stream: both have arrived by then. */
const SETTLE_MS = 50;

/**
 * Keeps an APIService for every group version in which a custom resource is served, from its definition on until the
 * last definition has gone. Every replica does it; each write compares what it was made from.
 */
export class CustomApiServices {
  readonly #options: CustomApiServicesOptions;
  /** By the name of the APIService: the group version, and the definitions that serve it. */
  readonly #wanted = new Map<string, GroupVersion & { readonly definitions: Set<string> }>();
  readonly #servedBy = new Map<string, readonly string[]>();
  readonly #existing = new Map<string, KubeObject>();
  readonly #stop = new AbortController();
  readonly #queue: WorkQueue;
  /** Those that were heard of until all were known at the start, as long as they have not been seen to. */
  readonly #unregistered = new Set<string>();
  #isStarted = false;
  /** What has to be fed into it, definitions first. */
  readonly sinks: readonly ResourceSink[];

  constructor(
    options: CustomApiServicesOptions,
    prefixes: { readonly definitions: string; readonly services: string },
  ) {
    this.#options = options;
    this.#queue = new WorkQueue(
      (name) => this.#bringUpToDate(name),
      (name, error) => options.logger.warn({ err: error, name }, 'bringing an APIService up to date failed'),
      { metrics: (queue) => options.queueMetrics?.('APIServiceRegistrationController', queue) },
    );
    this.sinks = [
      {
        storagePrefix: prefixes.definitions,
        put: (object) => this.#putDefinition(object as CustomResourceDefinition),
        delete: ({ metadata: { name = '' } }) => this.#forget(name),
      },
      {
        storagePrefix: prefixes.services,
        put: (object) => this.#putService(object),
        delete: ({ metadata: { name = '' } }) => {
          this.#existing.delete(name);
          if (this.#wanted.has(name)) this.#later(name);
        },
      },
    ];
  }

  /** To be called when the sinks have what is there at the start. */
  started(): void {
    this.#isStarted = true;
  }

  /** Every definition that was there at the start has its APIServices. */
  hasRegistered(): boolean {
    return this.#isStarted && this.#unregistered.size === 0;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#queue.close();
  }

  #putDefinition({ metadata: { name = '' }, spec: { group, versions } }: CustomResourceDefinition): void {
    const { isBuiltIn } = this.#options;
    this.#forget(name);
    const served = versions.filter((one) => one.served && !isBuiltIn(group, one.name));
    const names = served.map(({ name: version }) => apiServiceName({ group, version }));
    for (const { name: version } of served) {
      const serviceName = apiServiceName({ group, version });
      const wanted = this.#wanted.get(serviceName) ?? { group, version, definitions: new Set<string>() };
      wanted.definitions.add(name);
      this.#wanted.set(serviceName, wanted);
      this.#later(serviceName);
    }
    this.#servedBy.set(name, names);
  }

  #forget(definition: string): void {
    for (const serviceName of this.#servedBy.get(definition) ?? []) {
      const wanted = this.#wanted.get(serviceName);
      wanted?.definitions.delete(definition);
      if (wanted?.definitions.size === 0) this.#wanted.delete(serviceName);
      this.#later(serviceName);
    }
    this.#servedBy.delete(definition);
  }

  #putService(object: KubeObject): void {
    const { name = '' } = object.metadata;
    if (managedBy(object) !== 'true') {
      this.#existing.delete(name);
      return;
    }
    this.#existing.set(name, object);
    this.#later(name);
  }

  #later(name: string): void {
    if (!this.#isStarted) this.#unregistered.add(name);
    this.#queue.addAfter(name, SETTLE_MS);
  }

  async #bringUpToDate(name: string): Promise<void> {
    const { registry } = this.#options;
    const context = { signal: this.#stop.signal, dryRun: false };
    const wanted = this.#wanted.get(name);
    const existing = this.#existing.get(name);
    if (wanted !== undefined)
      await putApiService(registry, customService(wanted.group, wanted.version), 'true', context);
    else if (existing !== undefined) await deleteApiService(registry, existing, context);
    this.#unregistered.delete(name);
  }
}
