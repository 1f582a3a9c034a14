import { badRequest } from '../../api/errors/status-error';
import type { KubeObject } from '../../api/object';
import type { RequestContext } from '../request/context';
import type { Endpoint, EndpointDependencies, ResourceRequest } from './endpoint';
import { optionsFromQuery, type QueryOptions } from '../request/query-options';
import type { ApiResponse } from '../response/api-response';
import type { RequestInfo } from '../request/request-info';
import { admissionHooks } from './admission-hooks';
import { kubeletPath, type Parameters } from '../../kubelet/kubelet-paths';
import type { WantedStreams } from '../../streams/remote-command';
import { translateRemoteCommand, tunnelProtocol, tunnelSpdy, wantsRemoteCommand } from '../proxy/web-socket-streams';
import { passUpgrade, upgradeOf } from '../proxy/pass-upgrade';
import { passRequest } from '../proxy/pass-request';
import { endSoonWith } from '../proxy/relay-body';
import { containerOf, kubeletOf, nodeNameOf } from './pod-container';
import type { FindTarget } from './proxy-target';
import { readObject } from './read-object';
import { scopeOf } from './resource-request';

/**
 * Connections to what runs on the nodes: `exec`, `attach`, `portforward` and `proxy`. Admission sees the options before
 * anything is looked up.
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

/** What the kubelet is to do, by its path. */
type StreamPath = (namespace: string, pod: KubeObject, options: QueryOptions) => string;

/** `isCommand`: it has standard input and output. Otherwise it is about ports. */
function stream(pathOf: StreamPath, isCommand: boolean): Endpoint {
  return async (request, dependencies) => {
    const { context } = request;
    endSoonWith(dependencies.closing, context);
    const options = await admitted(request, dependencies, queryOptions(request, dependencies));
    const { name, namespace } = context.info;
    const pod = await readObject(request.registry, scopeOf(request), name, context);
    const path = pathOf(namespace, pod, options);
    const node = nodeNameOf(pod);
    if (node === '') throw badRequest(`pod ${name} does not have a host assigned`);
    const backend = await kubeletOf(node, 'pods', request, dependencies);
    upgradeOf(context);
    if (isCommand && wantsRemoteCommand(context)) {
      return translateRemoteCommand(context, { backend, path }, wantedStreams(options), dependencies);
    }
    const tunnel = isCommand ? undefined : tunnelProtocol(context);
    if (tunnel !== undefined) return tunnelSpdy(context, { backend, path }, tunnel, dependencies);
    return passUpgrade(context, { backend, path, namesHost: true, followsRedirects: true }, dependencies);
  };
}

function wantedStreams({ stdin, stdout, stderr, tty }: QueryOptions): WantedStreams {
  return { stdin: stdin === true, stdout: stdout === true, stderr: stderr === true, tty: tty === true };
}

/** `pods/exec` and `pods/attach`. */
function containerPath(action: 'exec' | 'attach'): StreamPath {
  return (namespace, pod, options) => {
    const container = containerOf(pod, typeof options.container === 'string' ? options.container : '');
    const streams = STREAMS.filter(([option]) => options[option] === true).map(([, name]) => [name, '1'] as const);
    const commands = action === 'exec' ? listOf(options.command).map((text) => ['command', text] as const) : [];
    return kubeletPath([action, namespace, pod.metadata.name ?? '', container], [...commands, ...streams]);
  };
}

/** The kubelet has names of its own for them. */
const STREAMS = [
  ['stdin', 'input'],
  ['stdout', 'output'],
  ['stderr', 'error'],
  ['tty', 'tty'],
] as const;

function listOf(values: unknown): readonly string[] {
  return Array.isArray(values) ? values.map(String) : [];
}

const portForwardPath: StreamPath = (namespace, pod, options) => {
  const ports = listOf(options.ports);
  const parameters: Parameters = ports.length === 0 ? [] : [['port', ports.join(',')]];
  return kubeletPath(['portForward', namespace, pod.metadata.name ?? ''], parameters);
};

export const execInContainer = stream(containerPath('exec'), true);
export const attachToContainer = stream(containerPath('attach'), true);
export const forwardPorts = stream(portForwardPath, false);

/** What stands after `proxy` in the path, as the target is to see it; empty without a slash. */
function subpathOf({ path, parts }: RequestInfo): string {
  const rest = parts.slice(3).join('/');
  const absolute = rest === '' || rest.startsWith('/') ? rest : `/${rest}`;
  return path.endsWith('/') && !absolute.endsWith('/') ? `${absolute}/` : absolute;
}

/** `proxy` of a pod, a service or a node, with any method. */
export function proxyTo(findTarget: FindTarget): Endpoint {
  return async (request, dependencies) => {
    const { context } = request;
    const path = subpathOf(context.info);
    await admitted(request, dependencies, path === '' ? {} : { path });
    const backend = await findTarget(request, dependencies);
    // Pages behind a proxy link relative to their own directory.
    if (path === '' && !isUpgrade(context)) return redirectToSlash(context);
    return passRequest(context, { backend, path }, dependencies);
  };
}

function redirectToSlash({ request: { url = '' } }: RequestContext): ApiResponse {
  const mark = url.indexOf('?');
  const location = mark < 0 ? `${url}/` : `${url.slice(0, mark)}/${url.slice(mark)}`;
  return { type: 'empty', code: 301, headers: { Location: location } };
}

function isUpgrade({ request }: RequestContext): boolean {
  return (request.headers.connection ?? '').toLowerCase().includes('upgrade');
}
