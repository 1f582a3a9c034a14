import type { Context, Scenario } from './scenario';
import { SCALE_NAMESPACE, collectionPath } from './objects';
import { fill } from './setup';

/** How often the probe asks while a long list is under way. */
const PROBE_SECONDS = 3;

const megabytes = (id: string, title: string, run: Scenario['run']): Scenario => ({
  id,
  title,
  unit: 'MiB',
  better: 'lower',
  run,
});
const milliseconds = (id: string, title: string, run: Scenario['run']): Scenario => ({
  id,
  title,
  unit: 'ms',
  better: 'lower',
  run,
});

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const META = 'g=meta.k8s.io;v=v1';

/** What a request for one object waits while all are listed again and again. */
const holdUp = (
  suffix: string,
  note: string,
  { headers, query = '' }: { readonly headers?: Readonly<Record<string, string>>; readonly query?: string },
): Scenario =>
  milliseconds(
    `scale-hold-up${suffix}`,
    `longest GET while all these objects are listed${note}`,
    async ({ load, listLoad, server }) => {
      const path = collectionPath(SCALE_NAMESPACE);
      const request = { method: 'GET', path: `${path}${query}`, ...(headers && { headers }) };
      const list = { target: server.target, request, status: 200 };
      const [probe] = await Promise.all([
        load.run({
          target: server.target,
          request: { method: 'GET', path: `${path}/cm-1-1?resourceVersion=0` },
          clients: 1,
          maxMs: PROBE_SECONDS * 1000,
          status: 200,
        }),
        listLoad.run({ ...list, clients: 1, maxMs: PROBE_SECONDS * 1000 }),
      ]);
      return { value: probe.max, p50: probe.p50, p99: probe.p99 };
    },
  );

export const fillScale = ({ load, server, options }: Context): Promise<void> =>
  fill({ load, server, namespace: SCALE_NAMESPACE, count: options.scaleObjects, bytes: options.bytes });

/** They need a server that was started after the objects were there; the harness sees to it. */
export const scenarios: readonly Scenario[] = [
  milliseconds('scale-start', 'start to ready with these objects', async ({ server }) => ({ value: server.startMs })),
  megabytes('scale-rss', 'RSS with these objects', async ({ server }) => {
    await new Promise((resolve) => setTimeout(resolve, 5000));
    return { value: server.child.rssMiB() };
  }),
  {
    id: 'scale-get',
    title: 'GET resourceVersion=0 among these objects, 16 clients',
    unit: 'req/s',
    run: ({ measure, server, options }) =>
      measure({
        target: server.target,
        request: { method: 'GET', path: `${collectionPath(SCALE_NAMESPACE)}/cm-1-{n}?resourceVersion=0` },
        numbers: 100,
        clients: 16,
        warmUpMs: options.warmUpMs,
        maxMs: options.seconds * 1000,
        status: 200,
      }),
  },
  holdUp('', '', {}),
  holdUp('-protobuf', ' as Protobuf', { headers: { accept: PROTOBUF } }),
  holdUp('-metadata', ' as metadata', { headers: { accept: `${PROTOBUF};as=PartialObjectMetadataList;${META}` } }),
  holdUp('-table', ' as a table', { headers: { accept: `application/json;as=Table;${META}` } }),
  holdUp('-label', ' by a label that none has', { query: '?labelSelector=none%3Dsuch' }),
  megabytes('scale-rss-listed', 'RSS after these lists', async ({ server }) => ({ value: server.child.rssMiB() })),
];
