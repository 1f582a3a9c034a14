import type { Context, Scenario } from './scenario';
import type { LoadRequest } from '../load/job';
import { WRITE_NAMESPACE, collectionPath, configMap } from './objects';
import { JSON_BODY } from './setup';

const CONCURRENCIES = [1, 16, 64];
/** Updates and patches go round among so many objects, so that they rarely meet. */
const TARGETS = 1000;

type Written = Pick<Context, 'load' | 'server' | 'options'>;

interface WriteKind {
  readonly status: number;
  readonly before?: 'some' | 'all' | false;
  readonly after?: boolean;
  readonly check?: (context: Context, name: string) => Promise<void>;
  readonly request: (name: string, bytes: number) => LoadRequest;
}

interface WriteMeasurement {
  readonly verb: string;
  readonly name: string;
  readonly clients: number;
  readonly maxRequests: number;
  readonly maxMs: number;
}

/**
 * Writes to objects that the scenario makes and removes itself. `request(names)` gives the request, `{n}` in it standing
 * for an object's number; `before` makes the objects that it needs, and `after` removes what is left.
 */
function write(
  verb: string,
  clients: number,
  { request, status, before = false, after = true, check }: WriteKind,
): Scenario {
  const prefix = `${verb.toLowerCase()}-${clients}`;
  const name = `${prefix}-{n}`;
  return {
    id: `${verb.toLowerCase()}-${clients}`,
    title: `${verb}, ${clients} client${clients === 1 ? '' : 's'}`,
    unit: 'req/s',
    run: async (context) => {
      const { measure, server, options } = context;
      const count = before === 'all' ? options.maxWrites : TARGETS;
      if (before !== false) await createObjects(context, name, count);
      const { used, ...result } = await measure({
        target: server.target,
        request: request(name, options.bytes),
        clients,
        ...(before === 'some' ? { numbers: TARGETS } : {}),
        maxRequests: options.maxWrites,
        maxMs: options.seconds * 1000,
        status,
      });
      await check?.(context, `${prefix}-0`);
      if (after || used < count) await removeObjects(context);
      return result;
    },
  };
}

function createObjects({ load, server, options }: Written, name: string, count: number) {
  return load.run({
    target: server.admin,
    request: createRequest(name, options.bytes),
    clients: 32,
    maxRequests: count,
    maxMs: 120_000,
    status: 201,
  });
}

function removeObjects({ load, server }: Written) {
  return load.once(server.admin, { method: 'DELETE', path: collectionPath(WRITE_NAMESPACE) });
}

function createRequest(name: string, bytes: number): LoadRequest {
  const body = configMap(WRITE_NAMESPACE, name, bytes);
  return { method: 'POST', path: collectionPath(WRITE_NAMESPACE), headers: JSON_BODY, body };
}

function objectPath(name: string): string {
  return `${collectionPath(WRITE_NAMESPACE)}/${name}`;
}

/** Throws unless the object that was written holds what was sent. */
function expectData(key: string) {
  return async ({ load, server }: Context, name: string): Promise<void> => {
    const { status, body } = await load.once(server.target, { method: 'GET', path: objectPath(name) });
    const object = (status === 200 ? JSON.parse(body.toString('utf8')) : {}) as {
      readonly data?: Record<string, string>;
    };
    if (object.data?.[key] === undefined)
      throw new Error(`${name} was written without ${key} (GET has status ${status})`);
  };
}

/** What a write changes: the time is another one each time, so that none is without effect. */
const CHANGE = { sentAt: '{now}' };

const kinds: readonly (readonly [verb: string, kind: WriteKind])[] = [
  ['CREATE', { status: 201, request: createRequest, check: expectData('text') }],
  [
    'PUT',
    {
      status: 200,
      before: 'some',
      check: expectData('sentAt'),
      request: (name, bytes) => ({
        method: 'PUT',
        path: objectPath(name),
        headers: JSON_BODY,
        body: configMap(WRITE_NAMESPACE, name, bytes, { data: CHANGE }),
      }),
    },
  ],
  [
    'PATCH',
    {
      status: 200,
      before: 'some',
      check: expectData('sentAt'),
      request: (name) => ({
        method: 'PATCH',
        path: objectPath(name),
        headers: { 'Content-Type': 'application/merge-patch+json' },
        body: JSON.stringify({ data: CHANGE }),
      }),
    },
  ],
  [
    'APPLY',
    {
      status: 200,
      before: 'some',
      check: expectData('sentAt'),
      request: (name) => ({
        method: 'PATCH',
        path: `${objectPath(name)}?fieldManager=bench-applier`,
        headers: { 'Content-Type': 'application/apply-patch+yaml' },
        body: JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name }, data: CHANGE }),
      }),
    },
  ],
  [
    'DELETE',
    {
      status: 200,
      before: 'all',
      after: false,
      request: (name) => ({ method: 'DELETE', path: objectPath(name) }),
    },
  ],
];

/** So many writes of one kind, to objects `name` that are there already (but for CREATE), and that stay (but for DELETE). */
export function measureWrite(
  { measure, server, options }: Context,
  { verb, name, clients, maxRequests, maxMs }: WriteMeasurement,
) {
  const kind = new Map(kinds).get(verb);
  if (kind === undefined) throw new Error(`${verb} is no write`);
  const { request, status } = kind;
  return measure({ target: server.target, request: request(name, options.bytes), clients, maxRequests, maxMs, status });
}

export const scenarios: readonly Scenario[] = kinds.flatMap(([verb, kind]) =>
  CONCURRENCIES.map((clients) => write(verb, clients, kind)),
);
