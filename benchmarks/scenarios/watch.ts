import type { KubeObject } from '../../src/api/object';
import type { Protocol } from '../load/job';
import type { Child } from '../servers/child';
import type { Context, Scenario } from './scenario';
import { WRITE_NAMESPACE, collectionPath, configMap } from './objects';
import { JSON_BODY } from './setup';

/** Events are small: what is measured is how often the server says something, not how much. */
const EVENT_BYTES = 400;
/** Of all watchers together, so that a run with many takes no longer; half as many come before and do not count. */
const EVENTS = 600_000;
const WRITERS = 16;
const TARGETS = 100;

interface Variant {
  readonly suffix: string;
  readonly note: string;
  readonly protocol: Protocol;
  readonly idleWatchers: number;
}

const watchRequest = async ({ load, server }: Context) => {
  const { body } = await load.once(server.target, { method: 'GET', path: collectionPath(WRITE_NAMESPACE) });
  const { resourceVersion } = (JSON.parse(body.toString('utf8')) as KubeObject).metadata;
  return {
    method: 'GET',
    path: `${collectionPath(WRITE_NAMESPACE)}?watch=true&resourceVersion=${resourceVersion}&timeoutSeconds=600`,
  };
};

/**
 * Of the watches; writes come over HTTP/1.1 either way. Over HTTP/2, where idle watchers share connections, a thousand of
 * them would fit into what V8 has free.
 */
const HTTP1: Variant = { suffix: '', note: '', protocol: 'http/1.1', idleWatchers: 1000 };
const HTTP2: Variant = { suffix: '-h2', note: ', HTTP/2', protocol: 'h2', idleWatchers: 10_000 };

/** Objects are updated while so many clients watch; the latency is from a write's sending to its event at one watcher. */
function fanOut(watchers: number, { suffix, note, protocol }: Variant): Scenario {
  const name = `watched-${watchers}-{n}`;
  return {
    id: `watch-${watchers}${suffix}`,
    title: `watch fan-out, ${watchers} watchers${note}`,
    unit: 'events/s',
    run: async (context) => {
      const { load, server, options } = context;
      const headers = JSON_BODY;
      const path = collectionPath(WRITE_NAMESPACE);
      const created = { method: 'POST', path, headers, body: configMap(WRITE_NAMESPACE, name, EVENT_BYTES) };
      const common = { target: server.target, clients: WRITERS, maxMs: 120_000 };
      await load.run({ ...common, request: created, maxRequests: TARGETS, status: 201 });
      const body = configMap(WRITE_NAMESPACE, name, EVENT_BYTES, { data: { sentAt: '{now}' } });
      const maxRequests = Math.ceil((EVENTS * Math.min(1, options.seconds / 3)) / watchers);
      const cpuBefore = server.child.cpuSeconds();
      const { warmUpEvents, ...result } = await load.fanOut({
        target: { ...server.target, protocol },
        watch: await watchRequest(context),
        watchers,
        warmUpWrites: Math.ceil(maxRequests / 2),
        writes: {
          ...common,
          request: { method: 'PUT', path: `${path}/${name}`, headers, body },
          numbers: TARGETS,
          maxRequests,
          status: 200,
        },
      });
      const cpuMicros = ((server.child.cpuSeconds() - cpuBefore) * 1e6) / (warmUpEvents + result.events);
      await load.once(server.admin, { method: 'DELETE', path });
      return { ...result, cpuMicros };
    },
  };
}

function idle({ suffix, note, protocol, idleWatchers }: Variant): Scenario {
  return {
    id: `watch-idle${suffix}`,
    title: `memory of an idle watcher, of ${idleWatchers}${note}`,
    unit: 'KiB',
    better: 'lower',
    run: async (context) => {
      const { load, server } = context;
      const target = { ...server.target, protocol };
      const before = await settledRssMiB(server.child);
      await load.openIdleWatches({ target, watch: await watchRequest(context), watchers: idleWatchers });
      const after = await settledRssMiB(server.child);
      await load.closeIdleWatches();
      return { value: (Math.max(0, after - before) * 1024) / idleWatchers };
    },
  };
}

/** As kubelets watch: each one object. A write to another one pays for these watches as far as the server asks them. */
function putAmongWatchers(watchers: number): Scenario {
  const name = 'unwatched-{n}';
  return {
    id: `put-16-among-${watchers}`,
    title: `PUT, 16 clients, ${watchers} watchers of other objects`,
    unit: 'req/s',
    run: async (context) => {
      const { load, measure, server, options } = context;
      const path = collectionPath(WRITE_NAMESPACE);
      const body = configMap(WRITE_NAMESPACE, name, EVENT_BYTES, { data: { sentAt: '{now}' } });
      const common = { target: server.target, clients: WRITERS, maxMs: 120_000 };
      const created = { method: 'POST', path, headers: JSON_BODY, body };
      await load.run({ ...common, request: created, maxRequests: TARGETS, status: 201 });
      const { method, path: all } = await watchRequest(context);
      await load.openIdleWatches({
        target: { ...server.target, protocol: 'h2' },
        watch: { method, path: `${all}&fieldSelector=metadata.name%3Dwatched-{n}` },
        watchers,
      });
      const result = await measure({
        ...common,
        request: { method: 'PUT', path: `${path}/${name}`, headers: JSON_BODY, body },
        numbers: TARGETS,
        maxMs: options.seconds * 1000,
        status: 200,
      });
      await load.closeIdleWatches();
      await load.once(server.admin, { method: 'DELETE', path });
      return result;
    },
  };
}

async function settledRssMiB(child: Child): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 2000));
  return child.rssMiB();
}

/** What the fan-outs leave free in the server would hide what an idle watcher takes. */
export const scenarios: readonly Scenario[] = [
  idle(HTTP1),
  idle(HTTP2),
  fanOut(100, HTTP1),
  fanOut(100, HTTP2),
  fanOut(1000, HTTP1),
  fanOut(1000, HTTP2),
  putAmongWatchers(0),
  putAmongWatchers(1000),
  putAmongWatchers(10_000),
];
