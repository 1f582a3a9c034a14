import type { CallBackend } from '../admission/webhooks/call';
import type { WebhookTarget } from '../api/webhook-target';
import type { Backend, BackendTransport } from '../client/backend-transport';
import { isOurselves, type ResolveService } from '../client/service-resolver';
import { explainEmpty, explainStatus } from '../client/unexpected-status';
import type { BackendCredentials } from '../client/backend-credentials';
import type { CredentialsFor } from './webhook-credentials';

/** What a patch of the largest object takes as base64, with something to spare. */
export const MAX_RESPONSE_BYTES = 5 * 1024 * 1024;

/** Of an answer that is none, so much is looked at. */
const MAX_EXPLANATION_BYTES = 64 * 1024;

export interface BackendDependencies {
  readonly transport: Pick<BackendTransport, 'request'>;
  readonly resolveService: ResolveService;
  /** What a backend is shown, by its host and port. */
  readonly credentialsFor: CredentialsFor;
  /** PEM: what our own certificate is verified by. */
  readonly ownAuthority: string | undefined;
}

/** Where a webhook is, and what is asked of it. */
interface Place {
  readonly backend: Backend;
  readonly path: string;
  readonly credentials: BackendCredentials;
}

/** Calls webhooks where their configurations say that they are. */
export function webhookBackends(dependencies: BackendDependencies): CallBackend {
  return async ({ target, body, timeoutSeconds, timeoutMs, signal, traceParent }) => {
    const { backend, path, credentials } = placeOf(target, dependencies);
    const {
      status,
      contentType,
      body: bytes,
    } = await dependencies.transport.request(backend, {
      path: `${path}?timeout=${timeoutSeconds}s`,
      method: 'POST',
      headers: {
        Accept: 'application/json, */*',
        'Content-Type': 'application/json',
        'User-Agent': 'kube-apiserver-admission',
        ...(traceParent === undefined ? {} : { traceparent: traceParent }),
        ...(credentials.authorization === undefined ? {} : { Authorization: credentials.authorization }),
      },
      body,
      timeoutMs,
      signal,
      maxBytes: MAX_RESPONSE_BYTES,
    });
    if (status < 200 || status > 206)
      throw new Error(explainStatus(status, bytes.toString('utf8', 0, MAX_EXPLANATION_BYTES), contentType));
    if (bytes.length === 0) throw new Error(explainEmpty(status, contentType || 'application/json'));
    return bytes;
  };
}

function placeOf(target: WebhookTarget, dependencies: BackendDependencies): Place {
  const { service, url } = target;
  if (service !== undefined) return placeOfService(target, service, dependencies);
  if (url === undefined) throw new Error('webhook configuration must have either service or URL');
  const { protocol, host, port, pathname } = new URL(url);
  if (protocol !== 'https:') throw new Error(`'https' is the only allowed URL scheme`);
  const credentials = dependencies.credentialsFor(port === '' ? `${host}:443` : host);
  return {
    backend: { origin: `https://${host}`, tls: trusted(target, credentials) },
    path: pathname,
    credentials,
  };
}

function placeOfService(
  target: WebhookTarget,
  { namespace, name, port, path }: NonNullable<WebhookTarget['service']>,
  { resolveService, credentialsFor, ownAuthority }: BackendDependencies,
): Place {
  const serverName = `${name}.${namespace}.svc`;
  const host = `${serverName}:${port}`;
  const credentials = credentialsFor(host);
  const authority = isOurselves(namespace, name, port) ? (ownAuthority ?? '') : '';
  const bundle = { ...target, certificateAuthority: [target.certificateAuthority, authority].join('\n').trim() };
  return {
    backend: {
      origin: `https://${host}`,
      tls: { serverName, ...trusted(bundle, credentials) },
      dial: () => resolveService(namespace, name, port),
    },
    path: path === '' ? '/' : path,
    credentials,
  };
}

function trusted({ certificateAuthority }: WebhookTarget, { tls }: BackendCredentials): Backend['tls'] {
  return { ...(certificateAuthority === '' ? {} : { certificateAuthority }), ...tls };
}
