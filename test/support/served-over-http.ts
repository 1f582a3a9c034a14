import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { Registry } from 'prom-client';
import type { RegistryCacheOptions } from '../../src/storage/cache/cache-options';
import { StatusError, unauthorized, type StatusDetails } from '../../src/api/errors/status-error';
import { deployment } from '../../src/api/kinds/apps/deployment';
import { binding } from '../../src/api/kinds/core/binding';
import { componentStatus } from '../../src/api/kinds/core/component-status';
import { configMap } from '../../src/api/kinds/core/config-map';
import { namespace } from '../../src/api/kinds/core/namespace';
import { pod } from '../../src/api/kinds/core/pod';
import { replicationController } from '../../src/api/kinds/core/replication-controller';
import { flowSchema } from '../../src/api/kinds/flowcontrol/flow-schema';
import { priorityLevelConfiguration } from '../../src/api/kinds/flowcontrol/priority-level-configuration';
import type { KindDefinition } from '../../src/api/kinds/kind-definition';
import { podDisruptionBudget } from '../../src/api/kinds/policy/pod-disruption-budget';
import { loadBuiltinSchema } from '../../src/api/schema/builtin-schema';
import type { Catalogue, ServedResource } from '../../src/resources/served-resource';
import { textResponse } from '../../src/http/response/api-response';
import { createServer, type ApiServer, type ServerOptions } from '../../src/http/server';
import { RequestMetrics } from '../../src/observability/request-metrics';
import { permissiveServer } from './permissive-server';
import { RegistryFixture } from './registry-fixture';

export interface Response {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are looked into freely
  readonly body: any;
}

export interface Sent {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export const CONFIG_MAPS = '/api/v1/namespaces/a/configmaps';
export const DEPLOYMENTS = '/apis/apps/v1/namespaces/a/deployments';
export const CONTROLLERS = '/api/v1/namespaces/a/replicationcontrollers';
export const MERGE = { 'content-type': 'application/merge-patch+json' };
export const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };

export function catalogueOf(fixture: RegistryFixture, definitions: readonly KindDefinition[]): Catalogue {
  const schema = loadBuiltinSchema();
  const served = new Map<string, ServedResource>();
  for (const definition of definitions) {
    const registry = fixture.registry(definition);
    for (const version of definition.versions) {
      const type = schema.kind(version.group, version.version, definition.kind);
      if (type === undefined) throw new Error(`no type for ${definition.kind}`);
      served.set(`${version.group}/${version.version}/${definition.resource}`, {
        definition,
        version,
        registry,
        type,
        listKind: `${definition.kind}List`,
        custom: false,
      });
    }
  }
  return {
    schema,
    resolve: (group, version, resource) => served.get(`${group}/${version}/${resource}`),
    hasBuiltInGroup: (group) => group === 'apps',
  };
}

/**
 * The whole way over HTTP, on a real store, with an open door for all tests of the file: `Bearer nobody` may do nothing, and
 * `/broken`, `/unanswerable` and `/slow` are what they say. With TLS in `options`, `open` and `send` are of no use.
 */
export function servedOverHttp(options: Partial<ServerOptions> = {}, cacheOptions: Partial<RegistryCacheOptions> = {}) {
  let fixture: RegistryFixture;
  let server: ApiServer;
  let port: number;
  const metrics = new Registry();
  beforeAll(async () => {
    fixture = await RegistryFixture.open(cacheOptions);
    server = createServer({
      ...permissiveServer,
      catalogue: catalogueOf(fixture, [
        configMap,
        binding,
        componentStatus,
        namespace,
        pod,
        replicationController,
        deployment,
        podDisruptionBudget,
        flowSchema,
        priorityLevelConfiguration,
      ]),
      nonResourceRoutes: [
        { path: '/healthz', handler: () => textResponse(200, 'ok') },
        {
          path: '/broken',
          handler: () => {
            throw new Error('the cause');
          },
        },
        {
          path: '/unanswerable',
          handler: () => {
            const details: { cyclic?: unknown } = {};
            details.cyclic = details;
            throw new StatusError(400, 'BadRequest', 'cannot be printed', details as StatusDetails);
          },
        },
        {
          path: '/slow',
          handler: ({ signal }) =>
            new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
        },
      ],
      authenticate: async ({ bearerToken }) => {
        if (bearerToken === 'wrong') throw unauthorized();
        return { name: bearerToken ?? 'admin', groups: ['system:authenticated'] };
      },
      authorize: async ({ user }) =>
        user.name === 'nobody' ? { decision: 'no-opinion', reason: '' } : { decision: 'allow', reason: '' },
      metrics: new RequestMetrics(metrics),
      ...options,
    });
    ({ port } = await server.listen());
  });
  afterAll(async () => {
    await server.close(1000);
    await fixture.close();
  });

  function open(method: string, path: string, { body, headers }: Sent = {}): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const request = httpRequest(
        { port, host: '127.0.0.1', method, path, agent: false, headers: { ...headers } },
        resolve,
      );
      request.on('error', reject);
      request.end(
        body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      );
    });
  }

  async function send(method: string, path: string, sent: Sent = {}): Promise<Response> {
    const response = await open(method, path, sent);
    const pieces: Buffer[] = [];
    for await (const piece of response) pieces.push(piece as Buffer);
    const text = Buffer.concat(pieces).toString('utf8');
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      body = undefined;
    }
    return { status: response.statusCode ?? 0, headers: response.headers, text, body };
  }

  return { open, send, metrics, port: () => port, fixture: () => fixture };
}
