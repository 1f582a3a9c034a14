import type { KubeObject } from '../../src/api/object';
import type { Protocol } from '../load/job';
import type { Context, Scenario } from './scenario';
import { NAMESPACE, collectionPath } from './objects';

/** GET of one object among many, by 16 clients; over HTTP/2 they share a connection. */
const CLIENTS = 16;

export function get(id: string, title: string, query: string, protocol: Protocol = 'http/1.1'): Scenario {
  const path = `${collectionPath(NAMESPACE)}/cm-0-{n}${query}`;
  const targetOf = (server: Context['server']) => ({ ...server.target, protocol });
  return {
    id,
    title,
    unit: 'req/s',
    check: async ({ load, server }) => {
      const { status, body } = await load.once(targetOf(server), { method: 'GET', path: path.replace('{n}', '7') });
      const { kind, metadata } = (status === 200 ? JSON.parse(body.toString('utf8')) : {}) as Partial<KubeObject>;
      if (kind !== 'ConfigMap' || metadata?.name !== 'cm-0-7' || !metadata.resourceVersion) {
        throw new Error(`GET has status ${status}, ${body.toString('utf8').slice(0, 200)}`);
      }
    },
    run: ({ measure, server, options }) =>
      measure({
        target: targetOf(server),
        request: { method: 'GET', path },
        numbers: Math.max(1, Math.floor(options.objects / 10)),
        clients: CLIENTS,
        warmUpMs: options.warmUpMs,
        maxMs: options.seconds * 1000,
        status: 200,
      }),
  };
}

export const scenarios: readonly Scenario[] = [
  get('get-consistent', 'GET consistent, 16 clients', ''),
  get('get-rv0', 'GET resourceVersion=0, 16 clients', '?resourceVersion=0'),
  get('get-consistent-h2', 'GET consistent, 16 clients, HTTP/2', '', 'h2'),
  get('get-rv0-h2', 'GET resourceVersion=0, 16 clients, HTTP/2', '?resourceVersion=0', 'h2'),
];
