import { ResourceRegistry } from '../registry/resource-registry';
import { CustomResources } from '../resources/custom-resources';
import type { CallConversionWebhook } from '../resources/conversion-webhook';
import type { Logger } from '../observability/logger';
import type { CloseStack } from './close-stack';
import type { Instruments } from './instruments';
import type { StartPhases } from './start-phases';
import type { Storage } from './storage';

/** Serves what is defined: all of it when this resolves. */
export async function startDefinitions(
  { store, requestMetrics, keyRoot, cache, catalogue, schema, own, resourceCache }: Storage,
  { metrics, queues }: Instruments,
  callConversion: CallConversionWebhook,
  phases: StartPhases,
  logger: Logger,
  parts: CloseStack,
): Promise<CustomResources> {
  const definitions = own('apiextensions.k8s.io', 'customresourcedefinitions');
  const isServed = (group: string, version: string, resource: string): boolean =>
    catalogue.resolve(group, version, resource) !== undefined;
  const customResources = new CustomResources({
    catalogue,
    cache,
    definitions: { cache: resourceCache(definitions.served.definition.storagePrefix), own: definitions },
    createRegistry: (definition, decoder, conversion) =>
      new ResourceRegistry({
        definition,
        store,
        cache,
        keyRoot,
        ...decoder,
        ...(conversion === undefined ? {} : { conversion }),
      }),
    callConversion,
    schema,
    keyRoot,
    onRemoved: (gone) => {
      void metrics.forgetUnserved(isServed);
      requestMetrics.forget(gone);
    },
    queueMetrics: queues.of,
    now: Date.now,
    logger,
  });
  parts.add(() => customResources.close());
  await customResources.start();
  phases.finish('poststarthook/start-apiextensions-informers', () => customResources.isFollowing());
  phases.finish('poststarthook/crd-informer-synced');
  phases.finish('poststarthook/start-apiextensions-controllers', () => customResources.hasSettled());
  return customResources;
}
