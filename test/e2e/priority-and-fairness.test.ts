import { Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import type { IncomingHttpHeaders } from 'node:http';
import { startApiServer, type ApiServer } from '../../src';
import type { KubeObject } from '../../src/api/object';
import { adminCredentials } from '../support/admin-client';
import { until } from '../support/until';

/** Flow schemas and priority levels over HTTPS: whom they are for, and that who sends much does not drown who sends little. */

const GROUP = '/apis/flowcontrol.apiserver.k8s.io/v1beta1';
const ELEPHANT_CLIENTS = 40;
const MOUSE_REQUESTS = 25;
const WRITERS = 'e2e-writers';
const MAPS = '/api/v1/namespaces/default/configmaps';

interface Response {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

let server: ApiServer;
let agent: Agent;

beforeAll(async () => {
  server = await startApiServer({ flags: { 'max-requests-inflight': 4, 'max-mutating-requests-inflight': 0 } });
  const { certificateAuthority: ca, clientCertificate: cert, clientKey: key } = adminCredentials(server);
  agent = new Agent({ keepAlive: true, maxSockets: 100, ca, cert, key });
  const binding = {
    metadata: { name: 'e2e-writers' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: WRITERS }],
  };
  const bound = await send('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', { body: binding });
  expect(bound.status).toBe(201);
}, 60_000);
afterAll(async () => {
  agent.destroy();
  await server.stop();
});

/** As another user who may do all, by impersonation; as an administrator without one. */
function send(method: string, path: string, { user, body }: { user?: string; body?: object } = {}): Promise<Response> {
  const headers = {
    ...(user === undefined ? {} : { 'Impersonate-User': user, 'Impersonate-Group': WRITERS }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const options: RequestOptions = { method, agent, headers };
  return new Promise((resolve, reject) => {
    const request = httpsRequest(new URL(path, server.url), options, (response) => {
      let text = '';
      response.on('data', (piece) => (text += String(piece)));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    request.on('error', reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function create(resource: string, object: object): Promise<string> {
  const { status, text } = await send('POST', `${GROUP}/${resource}`, { body: object });
  expect({ status, text: status === 201 ? '' : text }).toEqual({ status: 201, text: '' });
  return (JSON.parse(text) as { metadata: { uid: string } }).metadata.uid;
}

function createLevel(name: string, queuing: object): Promise<string> {
  const limited = { assuredConcurrencyShares: 1, limitResponse: { type: 'Queue', queuing } };
  return create('prioritylevelconfigurations', { metadata: { name }, spec: { type: 'Limited', limited } });
}

function createSchema(
  name: string,
  level: string,
  users: readonly string[],
  distinguisher = 'ByUser',
): Promise<string> {
  const rule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] };
  return create('flowschemas', {
    metadata: { name },
    spec: {
      matchingPrecedence: 1000,
      priorityLevelConfiguration: { name: level },
      distinguisherMethod: { type: distinguisher },
      rules: [
        {
          subjects: users.map((user) => ({ kind: 'User', user: { name: user } })),
          resourceRules: [rule],
          nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
        },
      ],
    },
  });
}

const schemaOf = ({ headers }: Response): unknown => headers['x-kubernetes-pf-flowschema-uid'];
const levelOf = ({ headers }: Response): unknown => headers['x-kubernetes-pf-prioritylevel-uid'];

/** A request that keeps its seat while the store writes. */
const probe = (user: string): Promise<Response> =>
  send('POST', MAPS, { user, body: { metadata: { generateName: 'e2e-' } } });

async function classified(user: string, schema: string): Promise<void> {
  await until(
    () => probe(user),
    (response) => schemaOf(response) === schema,
  );
}

describe('the headers of an answer', () => {
  it('name the flow schema and the priority level of the user who asks', async () => {
    const level = await createLevel('e2e-classified', { queues: 8, handSize: 2, queueLengthLimit: 10 });
    const schema = await createSchema('e2e-classified', 'e2e-classified', ['e2e-user']);
    await classified('e2e-user', schema);
    expect(levelOf(await probe('e2e-user'))).toBe(level);
    const other = await probe('somebody');
    expect([schemaOf(other), levelOf(other)]).toEqual([expect.any(String), expect.any(String)]);
    expect(schemaOf(other)).not.toBe(schema);
    const { text } = await send('GET', `${GROUP}/flowschemas/exempt`);
    const exempt = (JSON.parse(text) as { metadata: { uid: string } }).metadata.uid;
    expect(schemaOf(await send('GET', '/healthz'))).toBe(exempt);
  });

  it('are not there for watches', async () => {
    const watch = await send('GET', '/api/v1/namespaces?watch=1&timeoutSeconds=1');
    expect([watch.status, schemaOf(watch)]).toEqual([200, undefined]);
  });
});

it('who makes the default objects and who judges them own what they wrote, under the names of kube-apiserver', async () => {
  const managersOf = ({ text }: Response): readonly string[] =>
    (JSON.parse(text) as KubeObject).metadata.managedFields!.map(({ manager = '' }) => manager);
  const response = await until(
    () => send('GET', `${GROUP}/flowschemas/catch-all`),
    (one) => managersOf(one).length === 2,
  );
  expect([...managersOf(response)].sort()).toEqual([
    'api-priority-and-fairness-config-consumer-v1',
    'api-priority-and-fairness-config-producer-v1',
  ]);
});

/** Requests of a user over many connections without a pause, until it is told to stop: the codes of its answers. */
function elephant(user: string): { stop(): Promise<ReadonlyMap<number, number>> } {
  let isStopped = false;
  const codes = new Map<number, number>();
  const run = async (): Promise<void> => {
    while (!isStopped) {
      const { status } = await probe(user);
      codes.set(status, (codes.get(status) ?? 0) + 1);
    }
  };
  const runs = Array.from({ length: ELEPHANT_CLIENTS }, run);
  return {
    stop: async () => {
      isStopped = true;
      await Promise.all(runs);
      return codes;
    },
  };
}

async function mouse(user: string): Promise<readonly number[]> {
  const codes: number[] = [];
  while (codes.length < MOUSE_REQUESTS) codes.push((await probe(user)).status);
  return codes;
}

describe('a user who sends little beside one who sends very much', () => {
  it.each([
    ['of another priority level', 'e2e-elephant', 'e2e-mouse', false],
    ['of the same priority level', 'e2e-herd', 'e2e-herd', false],
    ['of the same flow schema', 'e2e-flock', 'e2e-flock', true],
  ])(
    'is served every time: %s',
    async (_what, elephantLevel, mouseLevel, isOneSchema) => {
      const queuing = { queues: 64, handSize: 1, queueLengthLimit: 5 };
      for (const level of new Set([elephantLevel, mouseLevel])) await createLevel(level, queuing);
      const [big, small] = [`${elephantLevel}-big`, `${mouseLevel}-small`];
      const bigSchema = await createSchema(big, elephantLevel, isOneSchema ? [big, small] : [big]);
      const smallSchema = isOneSchema ? bigSchema : await createSchema(small, mouseLevel, [small]);
      await classified(big, bigSchema);
      await classified(small, smallSchema);
      const herd = elephant(big);
      const codes = await mouse(small);
      const turnedAway = (await herd.stop()).get(429) ?? 0;
      expect(new Set(codes)).toEqual(new Set([201]));
      expect(turnedAway).toBeGreaterThan(0);
      const { text } = await send('GET', '/metrics');
      expect(text).toMatch(
        new RegExp(`apiserver_flowcontrol_rejected_requests_total\\{flow_schema="${big}".*reason="queue-full"\\}`),
      );
      expect(text).not.toMatch(new RegExp(`rejected_requests_total\\{flow_schema="${small}"`));
    },
    60_000,
  );
});

describe('the objects of flow control', () => {
  const read = async (path: string): Promise<Record<string, never>> =>
    JSON.parse((await send('GET', `${GROUP}/${path}`)).text) as Record<string, never>;

  it('say whether a flow schema has its priority level', async () => {
    await createSchema('e2e-dangling', 'e2e-later', ['nobody']);
    const dangling = async (): Promise<{ status: string; reason: string; message: string } | undefined> =>
      ((await read('flowschemas/e2e-dangling')) as { status?: { conditions?: [never] } }).status?.conditions?.[0];
    const before = await until(dangling, (condition) => condition?.status === 'True');
    expect(before).toMatchObject({
      type: 'Dangling',
      reason: 'NotFound',
      message: expect.stringContaining('no such object'),
    });
    await createLevel('e2e-later', { queues: 1, handSize: 1, queueLengthLimit: 1 });
    expect(await until(dangling, (condition) => condition?.status === 'False')).toMatchObject({ reason: 'Found' });
  });

  it('that every cluster must have are restored', async () => {
    const path = 'prioritylevelconfigurations/catch-all';
    const wanted = (await read(path))['spec'];
    const patch = { spec: { limited: { assuredConcurrencyShares: 77 } } };
    const { agent: own, ...target } = { agent, path: new URL(`${GROUP}/${path}`, server.url) };
    await new Promise<void>((resolve, reject) => {
      const headers = { 'content-type': 'application/merge-patch+json' };
      const request = httpsRequest(target.path, { method: 'PATCH', agent: own, headers }, (response) => {
        expect(response.statusCode).toBe(200);
        response.resume().on('end', resolve);
      });
      request.on('error', reject).end(JSON.stringify(patch));
    });
    const spec = async () => (await read(path))['spec'];
    expect(await until(spec, (found) => JSON.stringify(found) === JSON.stringify(wanted))).toEqual(wanted);
    await send('DELETE', `${GROUP}/flowschemas/catch-all`);
    const name = async () => (await read('flowschemas/catch-all'))['metadata'] as { name?: string } | undefined;
    expect(await until(name, (metadata) => metadata?.name === 'catch-all')).toBeDefined();
  });
});

it('shows what it is at under /debug', async () => {
  const { text } = await send('GET', '/debug/api_priority_and_fairness/dump_priority_levels');
  expect(text.split('\n')[0]).toMatch(/^PriorityLevelName, +ActiveQueues, +IsIdle, +IsQuiescing, +WaitingRequests, /);
  expect(text).toMatch(/^catch-all, +0, +true, +false, +0, +0, /m);
  const queues = await send('GET', '/debug/api_priority_and_fairness/dump_queues');
  expect(queues.text).toMatch(/^exempt, +<none>, /m);
  const requests = await send('GET', '/debug/api_priority_and_fairness/dump_requests?includeRequestDetails=1');
  expect(requests.text).toContain('UserName,');
});
