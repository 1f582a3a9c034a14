import type { RequestInfo } from '../request/request-info';

const PROBE_PATHS = /^\/(healthz|livez|readyz)(\/|$)/;
/** A query may follow. In a path, whose escapes have been read, a question mark is part of a name. */
const PROBE_URLS = /^\/(healthz|livez|readyz)([/?]|$)/;

/**
 * Whether a request asks how the server is. It is answered however busy the server is, as by later releases of kube-apiserver, whose flow
 * schema `probes` is exempt: a probe that fails would have the server restarted, which does not help.
 */
export function isProbe({ isResourceRequest, path }: RequestInfo): boolean {
  return !isResourceRequest && PROBE_PATHS.test(path);
}

/** The same of a request of which only the URL is known. */
export function isProbeUrl(url: string): boolean {
  return PROBE_URLS.test(url);
}
