import { GROUPS } from '../api/kinds/groups';
import {
  apiServiceName,
  bootstrapApiServices,
  builtInServices,
  isAvailable,
  managedBy,
} from '../bootstrap/api-services';
import type { Logger } from '../observability/logger';
import type { WorkQueueMetrics } from '../observability/queue-metrics';
import type { CustomResources } from '../resources/custom-resources';
import type { ResourceFeed } from '../resources/resource-feed';
import { CustomApiServices } from './custom-api-services';
import { once, type StartPhases } from './start-phases';
import type { Storage } from './storage';

const GROUP = 'apiregistration.k8s.io';

/** The APIServices of what this server serves itself. */
export class ApiServices {
  readonly #storage: Storage;
  readonly #customResources: CustomResources;
  readonly #phases: StartPhases;
  readonly #custom: CustomApiServices;
  #feed: ResourceFeed | undefined;

  constructor(
    storage: Storage,
    customResources: CustomResources,
    phases: StartPhases,
    queues: WorkQueueMetrics,
    logger: Logger,
  ) {
    this.#storage = storage;
    this.#customResources = customResources;
    this.#phases = phases;
    const { catalogue } = storage;
    const prefixOf = (group: string, resource: string): string =>
      catalogue.storageVersionOf(group, resource).definition.storagePrefix;
    this.#custom = new CustomApiServices(
      {
        registry: catalogue.registryOf(GROUP, 'apiservices'),
        isBuiltIn: (group, version) =>
          GROUPS.some(({ name, versions }) => name === group && versions.some((one) => one.version === version)),
        queueMetrics: queues.of,
        logger,
      },
      {
        definitions: prefixOf('apiextensions.k8s.io', 'customresourcedefinitions'),
        services: prefixOf(GROUP, 'apiservices'),
      },
    );
  }

  /** Brings those of the built-in group versions up to date. */
  async bootstrap(signal: AbortSignal): Promise<void> {
    const { catalogue, reader } = this.#storage;
    const registry = catalogue.registryOf(GROUP, 'apiservices');
    await bootstrapApiServices(registry, catalogue.builtInGroups, signal);
    const { storagePrefix } = registry.definition;
    const names = builtInServices(catalogue.builtInGroups).map(apiServiceName);
    const inMemory = () => names.map((name) => reader.get(storagePrefix, name));
    this.#phases.finish('poststarthook/kube-apiserver-autoregistration');
    this.#phases.finish(
      'poststarthook/apiservice-registration-controller',
      once(() => inMemory().every((object) => object !== undefined)),
    );
    this.#phases.finish(
      'poststarthook/apiservice-status-available-controller',
      once(() =>
        inMemory().every((object) => object !== undefined && (managedBy(object) === undefined || isAvailable(object))),
      ),
    );
  }

  /** Keeps those of custom resources from now on; a second call does nothing. */
  follow(): void {
    if (this.#feed !== undefined) return;
    const feed = this.#storage.feed(this.#custom.sinks);
    this.#feed = feed;
    void feed.caughtUp.then(() => this.#custom.started());
    this.#phases.finish('poststarthook/start-kube-aggregator-informers', () => feed.isFollowing());
    const hasRegistered = once(() => this.#custom.hasRegistered());
    this.#phases.finish('autoregister-completion', hasRegistered);
    this.#phases.finish(
      'poststarthook/apiservice-openapi-controller',
      () => hasRegistered() && this.#customResources.hasSettled(),
    );
  }

  async close(): Promise<void> {
    await this.#feed?.close();
    await this.#custom.close();
  }
}
