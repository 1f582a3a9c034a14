import { Agent, request as httpsRequest } from 'node:https';
import fc from 'fast-check';
import { startApiServer, type ApiServer } from '../../src';
import { adminCredentials } from '../support/admin-client';

/**
 * Malformed and random requests: whatever is sent, the server answers with less than 500 and goes on. The number of
 * requests is bounded; `STERNPOST_FUZZ_REQUESTS` raises it.
 */

const REQUESTS = Number(process.env.STERNPOST_FUZZ_REQUESTS ?? 2_000);
const SEED = Number(process.env.STERNPOST_FUZZ_SEED ?? 20_260_301);

interface Wire {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

let server: ApiServer;
let agent: Agent;

beforeAll(async () => {
  server = await startApiServer();
  const { certificateAuthority: ca, clientCertificate: cert, clientKey: key } = adminCredentials(server);
  agent = new Agent({ keepAlive: true, maxSockets: 8, ca, cert, key });
}, 30_000);

afterAll(async () => {
  agent.destroy();
  await server.stop();
});

/** The status; 0 when the connection ended without an answer; a watch that goes on counts as its status. */
function send(wire: Wire): Promise<number> {
  // What the client itself would refuse to send never reaches the server.
  if (/[^\x21-\xff]/.test(wire.path)) return Promise.resolve(0);
  return new Promise((resolve) => {
    const request = httpsRequest(
      new URL(server.url),
      { method: wire.method, path: wire.path, agent, headers: wire.headers },
      (response) => {
        const status = response.statusCode ?? 0;
        const slow = setTimeout(() => request.destroy(), 1_000);
        response.on('data', () => undefined);
        response.on('close', () => {
          clearTimeout(slow);
          resolve(status);
        });
      },
    );
    request.on('error', () => resolve(0));
    request.end(wire.body);
  });
}

const printable = fc.string({ minLength: 0, maxLength: 12, unit: 'grapheme-ascii' });
const segment = fc.oneof(
  fc.constantFrom(
    'api',
    'apis',
    'v1',
    'apps',
    'namespaces',
    'default',
    'pods',
    'configmaps',
    'watch',
    'status',
    'scale',
  ),
  fc.constantFrom(
    '%00',
    '%',
    '%zz',
    '..',
    '.',
    '%2e%2e',
    '%2f',
    'a'.repeat(300),
    '__proto__',
    'constructor',
    'toString',
  ),
  printable.map(encodeURIComponent),
);
const path = fc.oneof(
  fc.array(segment, { maxLength: 8 }).map((parts) => `/${parts.join('/')}`),
  fc
    .tuple(
      fc.constantFrom(
        '/api/v1/namespaces/default/configmaps',
        '/api/v1/pods',
        '/api/v1/nodes/x',
        '/apis/apps/v1/namespaces/default/deployments/x',
        '/apis/apps/v1/namespaces/default/deployments/x/scale',
        '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies',
        '/api/v1/namespaces/default/configmaps/fuzz',
        '/openapi/v3/apis/apps/v1',
        '/metrics',
      ),
      fc.array(segment, { maxLength: 1 }),
    )
    .map(([base, rest]) => [base, ...rest].join('/')),
);
const parameter = fc.tuple(
  fc.constantFrom(
    'limit',
    'continue',
    'resourceVersion',
    'resourceVersionMatch',
    'labelSelector',
    'fieldSelector',
    'timeoutSeconds',
    'timeout',
    'dryRun',
    'fieldManager',
    'fieldValidation',
    'force',
    'pretty',
    'propagationPolicy',
    'gracePeriodSeconds',
    '__proto__',
    'watch',
  ),
  fc.oneof(
    fc.constantFrom('0', '1', '-1', 'true', 'All', 'Exact', 'NotOlderThan', '9'.repeat(30), 'a in (', '%', '1e9', '{}'),
    printable.map(encodeURIComponent),
    fc.base64String({ maxLength: 40 }),
  ),
);
const headers = fc.record(
  {
    accept: fc.constantFrom(
      'application/json',
      'application/yaml',
      'application/vnd.kubernetes.protobuf',
      'application/json;as=Table;v=v1;g=meta.k8s.io',
      'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
      'text/html',
      ';;;,,,q=',
      '*/*;q=abc',
    ),
    'content-type': fc.constantFrom(
      'application/json',
      'application/yaml',
      'application/vnd.kubernetes.protobuf',
      'application/json-patch+json',
      'application/merge-patch+json',
      'application/strategic-merge-patch+json',
      'application/apply-patch+yaml',
      'text/plain',
      'a/b;charset',
    ),
    'impersonate-user': fc.constantFrom('alice', '', 'system:serviceaccount:a', 'x'.repeat(1_000)),
    'impersonate-group': fc.constantFrom('dev', ''),
    authorization: fc.constantFrom('Bearer wrong', 'Basic YTpi', 'Bearer', 'Bearer '),
    'accept-encoding': fc.constantFrom('gzip', 'br', ''),
  },
  { requiredKeys: [] },
);
const json = fc.json({ maxDepth: 4 });
const nearlyRight = fc
  .record({
    apiVersion: fc.constantFrom<unknown>('v1', 'apps/v1', 1, null),
    kind: fc.constantFrom<unknown>('ConfigMap', 'Pod', 'Deployment', {}, null),
    metadata: fc.oneof(
      fc.record({ name: fc.oneof(fc.constant('fuzz'), printable), labels: fc.anything({ maxDepth: 1 }) }),
      fc.anything({ maxDepth: 2 }),
    ),
    spec: fc.anything({ maxDepth: 3 }),
    data: fc.dictionary(printable, fc.anything({ maxDepth: 1 })),
  })
  .map((value) => JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? Number(one) : one)) ?? '');
const body = fc.option(
  fc.oneof(
    json.map((text) => Buffer.from(text)),
    nearlyRight.map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.concat([Buffer.from('k8s\0'), Buffer.from(bytes)])),
    fc.constantFrom('['.repeat(5_000), '{"a":'.repeat(5_000), 'a: &a [*a, *a]', '').map((text) => Buffer.from(text)),
  ),
  { nil: undefined },
);
const wire: fc.Arbitrary<Wire> = fc
  .record({
    method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'),
    path,
    query: fc.array(parameter, { maxLength: 4 }),
    headers,
    body,
  })
  .map(({ method, path: base, query, headers: sent, body: payload }) => ({
    method,
    path: query.length === 0 ? base : `${base}?${query.map(([name, value]) => `${name}=${value}`).join('&')}`,
    headers: Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, String(value)])),
    body: method === 'GET' || method === 'HEAD' ? undefined : payload,
  }));

describe('malformed and random requests', () => {
  it('are never answered with a server error, and the server serves on', async () => {
    const samples = fc.sample(wire, { numRuns: REQUESTS, seed: SEED });
    const failures: string[] = [];
    for (let index = 0; index < samples.length; index += 8) {
      await Promise.all(
        samples.slice(index, index + 8).map(async (sample) => {
          const status = await send(sample);
          // 504 is the answer to a resourceVersion that lies in the future.
          if (status >= 500 && status !== 504) {
            failures.push(
              `${status} ${sample.method} ${sample.path} ${sample.body?.toString('latin1').slice(0, 200) ?? ''}`,
            );
          }
        }),
      );
    }
    expect(failures).toEqual([]);
    await expect(send({ method: 'GET', path: '/readyz', headers: {}, body: undefined })).resolves.toBe(200);
  }, 600_000);
});
