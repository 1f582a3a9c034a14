import { request } from 'node:https';
import type { Component, ComponentHealth } from '../http/endpoints/component-statuses';
import type { Store } from '../storage/store';

const PROBE_TIMEOUT_MS = 20_000;
const HOST = '127.0.0.1';
/** Where the other parts of a control plane listen on the same machine. */
const NEIGHBOURS = [
  { name: 'scheduler', port: 10_259 },
  { name: 'controller-manager', port: 10_257 },
] as const;

/** The components that `componentstatuses` tells of: the store, and the neighbours whether they run or not. */
export function components(store: Store): readonly Component[] {
  return [
    ...NEIGHBOURS.map(({ name, port }) => ({ name, probe: (signal: AbortSignal) => askHealth(port, signal) })),
    { name: 'etcd-0', probe: (signal) => storeHealth(store, signal) },
  ];
}

async function storeHealth(store: Store, signal: AbortSignal): Promise<ComponentHealth> {
  try {
    await store.health(signal);
    return { healthy: true, message: '{"health":"true"}' };
  } catch (error) {
    return { healthy: false, message: error instanceof Error ? error.message : String(error) };
  }
}

/** Their certificates are self-signed: only their response counts. */
function askHealth(port: number, signal: AbortSignal): Promise<ComponentHealth> {
  const path = '/healthz';
  return new Promise((resolve) => {
    const refused = (cause: string): void =>
      resolve({ healthy: false, message: `Get "https://${HOST}:${port}${path}": ${cause}` });
    const options = { host: HOST, port, path, rejectUnauthorized: false, timeout: PROBE_TIMEOUT_MS, signal };
    const probe = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', (error) => refused(error.message));
      response.on('end', () => {
        const { statusCode = 0 } = response;
        const healthy = statusCode >= 200 && statusCode < 400;
        const body = Buffer.concat(chunks).toString('utf8');
        resolve({ healthy, message: healthy ? body : `HTTP probe failed with statuscode: ${statusCode}` });
      });
    });
    probe.on('timeout', () => probe.destroy(new Error('context deadline exceeded')));
    probe.on('error', (error: NodeJS.ErrnoException) =>
      refused(error.code === 'ECONNREFUSED' ? `dial tcp ${HOST}:${port}: connect: connection refused` : error.message),
    );
    probe.end();
  });
}
