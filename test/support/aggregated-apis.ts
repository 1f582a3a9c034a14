import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { KubeObject } from '../../src/api/object';
import type { ApiClient } from '../../src/client/api-client';
import { authority, servingKeys } from './serving-keys';
import { until } from './until';

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

export const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';

const never = new AbortController().signal;

/** Groups of other API servers, registered with one; and servers behind them that do as they are told. */
export class AggregatedApis {
  readonly #backends: Server[] = [];

  constructor(private readonly client: ApiClient) {}

  /** An APIService and its service, which leads to a port of this machine. */
  async register(group: string, port: number, more: object = {}): Promise<string> {
    const service = group.split('.')[0]!;
    await this.client.create(
      '/api/v1/namespaces/default/services',
      {
        metadata: { name: service },
        spec: { type: 'ExternalName', externalName: 'localhost' },
      },
      never,
    );
    const name = `v1.${group}`;
    await this.client.create(
      API_SERVICES,
      {
        metadata: { name },
        spec: {
          group,
          version: 'v1',
          service: { namespace: 'default', name: service, port },
          groupPriorityMinimum: 2000,
          versionPriority: 10,
          caBundle: Buffer.from(authority.certificatePem).toString('base64'),
          ...more,
        },
      },
      never,
    );
    return name;
  }

  async availabilityOf(name: string): Promise<Condition | undefined> {
    const { status } = await this.client.get<KubeObject>(`${API_SERVICES}/${name}`, never);
    return (status as { conditions?: readonly Condition[] } | undefined)?.conditions?.find(
      ({ type }) => type === 'Available',
    );
  }

  /** Resolves when its condition Available has this status. */
  settled(name: string, status: string): Promise<Condition | undefined> {
    return until(
      () => this.availabilityOf(name),
      (condition) => condition?.status === status,
    );
  }

  async backend(
    service: string,
    answer: (request: IncomingMessage, response: ServerResponse) => void,
    keys = servingKeys(authority, `${service}.default.svc`),
  ): Promise<number> {
    const server = createServer({ cert: keys.certificatePem, key: keys.privateKeyPem }, answer);
    return this.listen(server);
  }

  async listen(server: Server): Promise<number> {
    server.on('tlsClientError', () => undefined);
    this.#backends.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return (server.address() as AddressInfo).port;
  }

  close(): void {
    for (const server of this.#backends) {
      server.closeAllConnections();
      server.close();
    }
  }
}

/** What a server tells of a group in which nothing is. */
export function emptyList(group: string): string {
  return JSON.stringify({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${group}/v1`, resources: [] });
}
