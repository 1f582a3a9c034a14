import { isIP } from 'node:net';
import type { HealthAddress } from '../http/routes/health-listener';
import type { FlagTable } from './flag-table';

/** The port of probes, with the name that it has in kube-proxy. */
export const healthFlags = {
  'healthz-bind-address': {
    type: 'string',
    section: 'Serving',
    help:
      'Address and port (0.0.0.0:10256, or :10256) of /livez, /readyz and /healthz over plain HTTP, without authentication, for probes; ' +
      '/livez does not ask the store there. Empty: none.',
  },
} as const satisfies FlagTable;

/** What the flag says; undefined when it is empty, or no address (which {@link healthProblems} tells). */
export function healthAddress(healthzBindAddress: string): HealthAddress | undefined {
  const found = /^(?:\[(?<v6>[^\]]*)\]|(?<v4>[^:]*)):(?<port>\d{1,5})$/.exec(healthzBindAddress);
  const host = found?.groups?.['v6'] ?? found?.groups?.['v4'] ?? '';
  const port = Number(found?.groups?.['port'] ?? Number.NaN);
  if (!(port <= 65535) || (host !== '' && host !== 'localhost' && isIP(host) === 0)) return undefined;
  return { host: host === '' ? undefined : host, port };
}

export function healthProblems({ healthzBindAddress }: { readonly healthzBindAddress: string }): readonly string[] {
  if (healthzBindAddress === '' || healthAddress(healthzBindAddress) !== undefined) return [];
  return [`--healthz-bind-address ${JSON.stringify(healthzBindAddress)} is no address with a port, such as :10256`];
}
