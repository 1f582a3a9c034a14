import { badRequest, StatusError } from '../../api/errors/status-error';
import type { KubeObject } from '../../api/object';
import type { RequestContext } from '../request/context';
import type { Endpoint, EndpointDependencies, ResourceRequest } from './endpoint';
import { optionsFromQuery, type QueryOptions } from '../request/query-options';
import type { Reply } from '../response/reply';
import type { RequestInfo } from '../request/request-info';
import { admissionHooks } from './admission-hooks';
import { containerOf, kubeletAddress, nodeNameOf } from './pod-container';
import type { CheckTarget } from './proxy-target';
import { scopeOf } from './resource-request';

/**
 * Connections to what runs on the nodes: `exec`, `attach`, `portforward` and `proxy`. Admission sees the options before
 * anything is looked up. There is no transport to nodes and pods yet, so what passes all checks ends with a 501.
 */
async function admitted(
  request: ResourceRequest,
  dependencies: EndpointDependencies,
  given: QueryOptions,
): Promise<QueryOptions> {
  const { kind = '', version = '' } = request.subresource?.wireKind ?? {};
  const options: KubeObject = { kind, apiVersion: version, metadata: {}, ...given };
  const admission = admissionHooks(request, dependencies, {}, false);
  const mutated = await admission.mutate('CONNECT', options, undefined);
  await admission.validate('CONNECT', mutated, undefined);
  return mutated;
}

function queryOptions(request: ResourceRequest, { catalogue }: EndpointDependencies): QueryOptions {
  const { context, subresource } = request;
  if (subresource?.wireKind === undefined) throw new Error('a connection needs the kind of its options');
  return optionsFromQuery(context.info.query, subresource.wireKind, catalogue.schema);
}

function noTransport(): StatusError {
  return new StatusError(501, undefined, 'connections to nodes, pods and services are not supported yet');
}

/** A stream to a container or, for forwarded ports, to a pod. */
function stream(ofContainer: boolean): Endpoint {
  return async (request, dependencies) => {
    const { context } = request;
    const options = await admitted(request, dependencies, queryOptions(request, dependencies));
    const { name } = context.info;
    const { object: pod } = await request.registry.get(scopeOf(request), name, {}, context.signal);
    if (ofContainer) containerOf(pod, typeof options.container === 'string' ? options.container : '');
    const node = nodeNameOf(pod);
    if (node === '') throw badRequest(`pod ${name} does not have a host assigned`);
    await kubeletAddress(node, 'pods', request, dependencies);
    if (!isUpgrade(context)) throw badRequest('Upgrade request required');
    throw noTransport();
  };
}

/** `pods/exec` and `pods/attach`. */
export const streamContainer = stream(true);
export const forwardPorts = stream(false);

/** What stands after `proxy` in the path, as the target is to see it; empty without a slash. */
function subpathOf({ path, parts }: RequestInfo): string {
  const rest = parts.slice(3).join('/');
  const absolute = rest === '' || rest.startsWith('/') ? rest : `/${rest}`;
  return path.endsWith('/') && !absolute.endsWith('/') ? `${absolute}/` : absolute;
}

/** `proxy` of a pod, a service or a node, with any method. */
export function proxyTo(checkTarget: CheckTarget): Endpoint {
  return async (request, dependencies) => {
    const { context } = request;
    const path = subpathOf(context.info);
    await admitted(request, dependencies, path === '' ? {} : { path });
    await checkTarget(request, dependencies);
    // Pages behind a proxy link relative to their own directory.
    if (path === '' && !isUpgrade(context)) return redirectToSlash(context);
    throw noTransport();
  };
}

function redirectToSlash({ request: { url = '' } }: RequestContext): Reply {
  const mark = url.indexOf('?');
  const location = mark < 0 ? `${url}/` : `${url.slice(0, mark)}/${url.slice(mark)}`;
  return { type: 'empty', code: 301, headers: { Location: location } };
}

function isUpgrade({ request }: RequestContext): boolean {
  return (request.headers.connection ?? '').toLowerCase().includes('upgrade');
}
