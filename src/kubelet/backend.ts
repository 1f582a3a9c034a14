import { isIPv6 } from 'node:net';

/**
 * How a backend proves who it is, and what it is shown: a kubelet has a certificate of the kubelets' CA and is shown the
 * client certificate; what pods and services show is not verified, since there is no name or authority to expect.
 */
export type Trust = 'kubelet' | 'kubelet-unverified' | 'anybody';

/** Where a request is passed on to. */
export interface Backend {
  readonly scheme: 'http' | 'https';
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
  readonly trust: Trust;
}

/** `host:port` as in a URL. */
export function hostPortOf({ host, port }: Pick<Backend, 'host' | 'port'>): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

export function originOf(backend: Backend): string {
  return `${backend.scheme}://${hostPortOf(backend)}`;
}
