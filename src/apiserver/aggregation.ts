import type { Registry } from 'prom-client';
import { AvailabilityChecks } from '../aggregator/availability-checks';
import { AvailabilityMetrics } from '../aggregator/metrics';
import { withAvailability } from '../aggregator/availability';
import { RemoteApis, type ClientTls } from '../aggregator/remote-apis';
import { isCode } from '../bootstrap/is-code';
import { isAvailable } from '../bootstrap/api-services';
import { formatDate } from '../api/time/rfc3339';
import type { KubeObject } from '../api/object';
import type { Aggregation } from '../http/proxy/pass-to-api';
import type { ResourceFeed } from '../resources/resource-feed';
import type { Logger } from '../observability/logger';
import type { Backends } from './backends';
import type { CloseStack } from './close-stack';
import type { Storage } from './storage';

export interface AggregationOptions {
  /** `--proxy-client-cert-file`: what other API servers are shown. Absent: nothing. */
  readonly proxyClient?: ClientTls;
  readonly logger: Logger;
}

const NOTHING_SHOWN = {};
/** Nothing of what the server writes itself is reset, the status included. */
const AS_IT_IS = {};

/** Knows the APIServices of other servers, and whether these answer. */
export function startAggregation(
  { proxyClient = () => NOTHING_SHOWN, logger }: AggregationOptions,
  storage: Storage,
  { services, resolveService, transport }: Backends,
  registry: Registry,
  parts: CloseStack,
): Aggregation {
  const metrics = new AvailabilityMetrics(registry);
  const apis = new RemoteApis(proxyClient);
  const registered = storage.own('apiregistration.k8s.io', 'apiservices');
  const checks = new AvailabilityChecks({
    apis,
    services,
    resolveService,
    transport,
    report: async (name, availability, signal) => {
      metrics.found(name, availability);
      const change = (current: KubeObject | undefined): KubeObject => {
        if (current === undefined || apis.get(name) === undefined) return current ?? { metadata: { name } };
        return withAvailability(current, availability, formatDate(new Date()));
      };
      const update = { namespace: '', name, change, strategy: AS_IT_IS };
      await registered.update(update, { signal, dryRun: false }).catch((error: unknown) => {
        // It was deleted meanwhile, or the server goes down.
        if (!isCode(error, 404) && !signal.aborted) throw error;
      });
    },
    logger,
  });
  let serviceFeed: ResourceFeed | undefined;
  const serviceChanged = ({ metadata: { namespace, name } }: KubeObject): void => {
    for (const { api } of apis.entries()) {
      if (api.service.name === name && api.service.namespace === namespace) checks.checkSoon(api.name);
    }
  };
  const follow = (storagePrefix: string) => ({ storagePrefix, put: serviceChanged, delete: serviceChanged });
  const feed = storage.feed([
    {
      storagePrefix: registered.served.definition.storagePrefix,
      put: (object) => {
        if (!apis.put(object, isAvailable(object))) return;
        // A server without such APIs does not pay for it.
        serviceFeed ??= storage.feed([follow('services/specs'), follow('services/endpoints')]);
        checks.checkSoon(object.metadata.name ?? '');
      },
      delete: ({ metadata: { name = '' } }) => {
        apis.delete(name);
        checks.forget(name);
        metrics.forget(name);
      },
    },
  ]);
  parts.add(async () => {
    await feed.close();
    await serviceFeed?.close();
    await checks.close();
    apis.close();
  });
  return { apis, resolveService };
}
