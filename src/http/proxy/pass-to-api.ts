import { identityHeaders, isIdentityHeader } from '../../aggregator/identity-headers';
import type { RemoteApis, RemoteEntry } from '../../aggregator/remote-apis';
import type { Backend } from '../../kubelet/backend';
import { BackendFailure } from '../../kubelet/backend-failure';
import type { RequestContext } from '../request/context';
import { textResponse, type Dispatched } from '../response/api-response';
import { passOn } from './pass-request';
import type { UpgradeDependencies } from './pass-upgrade';

/** Group versions that other API servers serve, and where these are. */
export interface Aggregation {
  readonly apis: RemoteApis;
  /** Throws when the service leads nowhere. */
  readonly resolveService: (namespace: string, name: string, port: number) => Pick<Backend, 'host' | 'port'>;
}

/** Through how many proxies a request may have come: servers that pass it to each other would do so for good. */
const MAX_HOPS = 16;

/** What the other server answers is for it to choose. */
const AS_IT_IS = { format: 'json', pretty: false } as const;

/**
 * Passes a request on to the API server that serves its group version, in the name of the user who was authenticated here. The
 * client's credentials stay here, as does whatever it says of its identity.
 */
export async function passToApi(
  context: RequestContext,
  { api, connections, isAvailable }: RemoteEntry,
  { resolveService }: Aggregation,
  { backends, closing }: UpgradeDependencies,
): Promise<Dispatched> {
  const { user, info, request } = context;
  if (user === undefined) throw new Error('a request was passed on before authentication');
  const headers = identityHeaders(user);
  const hops = (request.headersDistinct['x-forwarded-for'] ?? []).join(',').split(',').length;
  if (!isAvailable || headers === undefined || hops > MAX_HOPS) return unreachable('service unavailable');
  const { namespace, name, port } = api.service;
  let address;
  try {
    address = resolveService(namespace, name, port);
  } catch {
    return unreachable('service unavailable');
  }
  const opener = {
    open: connections.open,
    isPrivateHeader: (header: string) => isIdentityHeader(header) || backends.isPrivateHeader(header),
  };
  const backend = { scheme: 'https', ...address, trust: 'anybody' } as const;
  try {
    const response = await passOn(
      context,
      { backend, path: info.path, namesHost: true, headers },
      { backends: opener, closing },
    );
    return { response: response, negotiated: AS_IT_IS };
  } catch (error) {
    if (!(error instanceof BackendFailure)) throw error;
    return unreachable(`error trying to reach service: ${error.message}`);
  }
}

/** In plain text, as kube-apiserver's aggregator says it. */
function unreachable(reason: string): Dispatched {
  return { response: textResponse(503, `${reason}\n`), negotiated: AS_IT_IS };
}
