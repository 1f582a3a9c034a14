/** Clients of a server, over HTTP/1.1 or HTTP/2. */

import { http1 } from './http1-connection';
import { http2 } from './http2-connection';
import type { LoadRequest, Protocol, Target } from './job';
import type { LoadConnection, LoadProtocol } from './load-connection';

const protocols: Readonly<Record<Protocol, LoadProtocol>> = { 'http/1.1': http1, h2: http2 };

const protocolOf = ({ protocol = 'http/1.1' }: Target) => protocols[protocol];

/**
 * So many clients with one request under way each: over HTTP/1.1 each on a connection of its own, over HTTP/2 together on as
 * few as there can be.
 */
export async function openClients(target: Target, count: number): Promise<readonly LoadConnection[]> {
  const { clientsPerConnection, open } = protocolOf(target);
  const needed = Math.ceil(count / clientsPerConnection);
  const connections = await someAtATime(Array.from({ length: needed }), () => open(target));
  return connections
    .flatMap((connection) => Array.from({ length: clientsPerConnection }, () => connection))
    .slice(0, count);
}

/** What a client sends. It can be sent any number of times. */
export function encodeRequest(target: Target, request: LoadRequest): Buffer {
  const headers = {
    Authorization: `Bearer ${target.token}`,
    'User-Agent': 'sternpost-bench',
    Accept: 'application/json',
    ...request.headers,
  };
  return protocolOf(target).encodeRequest(target, { ...request, headers });
}

/** Like Promise.all, but does not have a server begin a thousand things at once. */
export async function someAtATime<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += 50) {
    results.push(...(await Promise.all(items.slice(start, start + 50).map(work))));
  }
  return results;
}
