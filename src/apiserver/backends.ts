import { BackendTransport } from '../client/backend-transport';
import { byClusterAddress, byEndpoint, withOurselves, type ResolveService } from '../client/service-resolver';
import type { CloseStack } from './close-stack';
import type { Instruments } from './instruments';
import type { Storage } from './storage';

/** How the server reaches those whom it asks: webhooks, by URL or by service. */
export interface Backends {
  readonly transport: BackendTransport;
  readonly resolveService: ResolveService;
  /** The port of this server, once it is known: its own Service leads here. */
  listensOn(port: number): void;
}

export interface BackendsOptions {
  readonly bindAddress: string;
  readonly securePort: number;
  /** Services are reached at one of their endpoints, not at their own address. Absent: no. */
  readonly routesToEndpoints?: boolean;
}

export function createBackends(
  options: BackendsOptions,
  { reader }: Storage,
  { restClient }: Instruments,
  parts: CloseStack,
): Backends {
  const { bindAddress, routesToEndpoints = false } = options;
  let ownPort = options.securePort;
  const transport = new BackendTransport(restClient.record);
  parts.add(() => transport.close());
  const services = {
    getService: (namespace: string, name: string) => reader.get('services/specs', namespace, name),
    getEndpoints: (namespace: string, name: string) => reader.get('services/endpoints', namespace, name),
  };
  const resolve = routesToEndpoints ? byEndpoint(services, Math.random) : byClusterAddress(services);
  return {
    transport,
    resolveService: withOurselves(resolve, () => ({ host: localAddress(bindAddress), port: ownPort })),
    listensOn: (port) => {
      ownPort = port;
    },
  };
}

/** Where this process finds itself. */
function localAddress(bindAddress: string): string {
  return ['', '0.0.0.0', '::'].includes(bindAddress) ? '127.0.0.1' : bindAddress;
}
