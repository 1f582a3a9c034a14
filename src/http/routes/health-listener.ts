import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { whenKnown } from '../../api/maybe-promise';
import type { HealthChecks } from './health-routes';
import { printReport, runChecks, type HealthCheck } from './health';

/** Where the listener is: `undefined` as the host is every address, 0 as the port a free one. */
export interface HealthAddress {
  readonly host: string | undefined;
  readonly port: number;
}

export interface HealthListener {
  readonly port: number;
  close(): Promise<void>;
}

/** A probe is a line and a few headers, sent at once, by a few kubelets and balancers. */
const LIMITS = { maxHeaderSize: 8 * 1024, headersTimeout: 5_000, requestTimeout: 5_000, keepAliveTimeout: 5_000 };
const MAX_CONNECTIONS = 200;
const MAX_QUERY_PARAMETERS = 50;

/**
 * Plain HTTP for probes and balancers, who have no credentials: /livez, /readyz and /healthz, and /metrics where
 * they are given: nothing else. It tells which checks fail, never why. Being alive does not ask the store: a restart would not bring it back.
 */
export async function listenForProbes(
  { host, port }: HealthAddress,
  { livez, readyz, healthz }: HealthChecks,
  metrics?: () => Promise<Buffer>,
): Promise<HealthListener> {
  const endpoints: ReadonlyMap<string, readonly HealthCheck[]> = new Map([
    ['livez', livez.filter(({ name }) => name !== 'etcd')],
    ['readyz', readyz],
    ['healthz', healthz],
  ]);
  const server = createServer(LIMITS, (request, response) => {
    if (metrics === undefined || request.url !== '/metrics') respond(endpoints, request, response);
    else
      metrics().then(
        (text) => send(response, 200, text),
        () => response.destroy(),
      );
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on('clientError', (_error, socket) => socket.destroy());
  await listening(server, port, host).catch((error: unknown) => {
    throw new Error(
      `the health checks cannot be served: ${(error as Error).message}; choose another --healthz-bind-address`,
      {
        cause: error,
      },
    );
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listening(server: Server, port: number, host: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function respond(
  endpoints: ReadonlyMap<string, readonly HealthCheck[]>,
  { method, url = '/' }: IncomingMessage,
  response: ServerResponse,
): void {
  const [path = '', query = ''] = url.split('?', 2);
  const name = path.slice(1);
  const checks = endpoints.get(name);
  if (checks === undefined) return send(response, 404, 'not found\n');
  if (method !== 'GET' && method !== 'HEAD') return send(response, 405, 'method not allowed\n');
  const parameters = new URLSearchParams(query.split('&', MAX_QUERY_PARAMETERS).join('&'));
  const done = whenKnown(runChecks(checks, parameters.getAll('exclude')), (report) =>
    send(response, report.healthy ? 200 : 500, printReport(name, report, parameters.has('verbose'))),
  );
  if (done instanceof Promise) done.catch(() => response.destroy());
}

function send(response: ServerResponse, status: number, text: string | Buffer): void {
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}
