import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseControlPlaneFlags } from './flags/control-plane-flags';
import { startControlPlane, type ControlPlane } from './flags/control-plane';
import { flagArguments, type FlagValues } from './flags/flag-values';
import type { ApiServerFlags } from './flags/generated/api-server-flags';
import { nodeVersionProblem } from './cli/node-version';
import { checkFlags, logsRequests } from './flags/server-from-flags';
import type { Extension } from './http/application/extension';
import type { ExtensionApp, HostRequest, HostResponse } from './http/application/extension-app';
import { selectControllers } from './controllers/start-controllers';
import { createObjects, readManifests } from './client/initial-objects';
import { createLogger, type LogFormat, type LogLevel } from './observability/logger';

export type { ApiServerFlags, LogLevel };
export type {
  AddRoute,
  ExtensionApp,
  ExtensionHandler,
  ExtensionRequest,
  ExtensionResponse,
  HostRequest,
  HostResponse,
  RequestUser,
} from './http/application/extension-app';

export interface ApiServerOptions<UserName extends string = string, App = ExtensionApp> {
  /** A free port by default. `flags['secure-port']` counts for more. */
  readonly port?: number | undefined;
  /**
   * Where to keep data that outlive the server; a temporary folder, removed at the end, by default. `flags['data-dir']` counts
   * for more.
   */
  readonly dataDir?: string | undefined;
  /** What is written to standard error, from `debug` on with every request; only fatal problems by default, everything with `flags.v`. */
  readonly logLevel?: LogLevel | undefined;
  /**
   * Flags of `sternpost apiserver` by their names on the command line: `{ 'service-cluster-ip-range': '10.1.0.0/16' }`. What
   * the command refuses is refused here, in the same words.
   */
  readonly flags?: ApiServerFlags | undefined;
  /** `--feature-gates`: `{ HPAScaleToZero: true }`. */
  readonly featureGates?: Readonly<Record<string, boolean>> | undefined;
  /**
   * What is there when the server is: objects of any kinds, or YAML texts with any number of them. Definitions of custom
   * resources come first and are established, the others are created in their order. What is there already is changed.
   */
  readonly objects?: readonly (object | string)[] | undefined;
  /** The controllers to run, as `--controllers` of `sternpost dev` names them; all by default. */
  readonly controllers?: readonly string[] | undefined;
  /**
   * Adds routes outside the resource tree, with Express 5: `(app) => app.get('/reports', (request, response) => ...)`. They run behind
   * authentication and authorization (`nonResourceURLs` of RBAC), and `request.user` says who asks. Paths that the API server has are not
   * reached.
   */
  readonly extend?: ((app: App) => unknown) | undefined;
  /** Users besides the administrator, with their groups: `{ alice: ['developers'] }`. */
  readonly users?: Readonly<Record<UserName, readonly string[]>> | undefined;
}

/** How a client proves who it is. */
export interface ApiServerUser {
  /** YAML text of a kubeconfig. */
  readonly kubeconfig: string;
  /** A bearer token. */
  readonly token: string;
}

/** A real API server in this process, with the controllers that tests miss most (namespaces, service accounts, quotas ...). */
export interface ApiServer<UserName extends string = string> extends AsyncDisposable {
  /** `https://127.0.0.1:<port>`. */
  readonly url: string;
  /** YAML text of a kubeconfig for a client that may do everything. */
  readonly kubeconfig: string;
  /** A bearer token of the same user. */
  readonly token: string;
  /** What clients verify the server by, as PEM text. */
  readonly certificateAuthority: string;
  /**
   * Answers requests of another server of node:http, node:https or Express, under its TLS and behind its middleware: `app.use(server.handler)`. Clients
   * prove who they are by tokens. Belongs before body parsers: a request whose body was read is answered with 500.
   */
  readonly handler: (request: HostRequest, response: HostResponse) => void;
  /**
   * For what needs a connection of its own (exec, attach, port-forward, proxies, watches over WebSocket) on such a server:
   * `httpServer.on('upgrade', server.upgrade)`. False: it is nothing of that kind, and nothing was done to the socket.
   */
  readonly upgrade: (request: HostRequest, socket: object, head: Uint8Array) => boolean;
  /** Those of the options. */
  readonly users: Readonly<Record<UserName, ApiServerUser>>;
  /** Ends everything and waits for it; a second call waits for the first. */
  stop(): Promise<void>;
}

/**
 * Starts an API server, for a test for example. Resolves when it answers and what a fresh cluster has is there; servers do not
 * know each other, so any number may run side by side.
 *
 * @throws when a flag or a feature gate is refused, when the server cannot start, or when it refuses one of the objects.
 * Nothing is left behind then.
 */
export async function startApiServer<UserName extends string = string, App = ExtensionApp>(
  options: ApiServerOptions<UserName, App> = {},
): Promise<ApiServer<UserName>> {
  const problem = nodeVersionProblem();
  if (problem !== undefined) throw new Error(problem);
  const manifests = readManifests(options.objects ?? []);
  const folder = keepsData(options) ? undefined : mkdtempSync(join(tmpdir(), 'sternpost-'));
  const removeFolder = (): void => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  };
  let controlPlane: ControlPlane | undefined;
  const end = async (): Promise<void> => {
    await controlPlane?.stop();
    removeFolder();
  };
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= end());
  try {
    controlPlane = await start(options, folder);
    await createObjects(controlPlane.client, manifests);
  } catch (error) {
    await stop();
    throw error;
  }
  const { url, certificateAuthority, admin, users, handler, upgrade } = controlPlane;
  return {
    url,
    kubeconfig: admin.kubeconfig,
    token: admin.token,
    certificateAuthority,
    users,
    handler: handler as ApiServer['handler'],
    upgrade: upgrade as ApiServer['upgrade'],
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function keepsData({ dataDir, flags }: Pick<ApiServerOptions, 'dataDir' | 'flags'>): boolean {
  return dataDir !== undefined || flags?.['data-dir'] !== undefined;
}

function start<App>(options: ApiServerOptions<string, App>, folder: string | undefined): Promise<ControlPlane> {
  const dataDir = options.dataDir ?? folder;
  const gates = Object.entries(options.featureGates ?? {}).map(([gate, isOn]) => `${gate}=${isOn}`);
  const given: FlagValues = { ...options.flags };
  const parsed = parseControlPlaneFlags([
    ...flagArguments({ 'data-dir': dataDir, 'secure-port': options.port ?? 0 }),
    ...flagArguments(given),
    ...(gates.length === 0 ? [] : [`--feature-gates=${gates.join(',')}`]),
  ]);
  const flags = checkFlags(parsed.options, parsed.warnings);
  const { loggingFormat } = flags.options;
  const logger = createLogger({
    level: options.logLevel ?? (logsRequests(flags) ? 'info' : 'fatal'),
    ...(loggingFormat === '' ? {} : { format: loggingFormat as LogFormat }),
  });
  for (const warning of flags.warnings) logger.warn(warning);
  return startControlPlane({
    flags,
    logger,
    logRequests: logger.isLevelEnabled('debug'),
    ...(options.extend === undefined ? {} : { extensions: [options.extend as Extension] }),
    ...(options.users === undefined ? {} : { users: options.users }),
    ...(options.controllers === undefined ? {} : { controllers: selectControllers(options.controllers) }),
  });
}
