import { isIPv6 } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { StatusError } from '../api/errors/status-error';
import { MASTERS_GROUP } from '../api/user';
import { ApiClient, type ClientConfig } from '../client/api-client';
import type { RunningApiServer } from '../apiserver/api-server';
import type { Extension } from '../http/application/extension';
import type { Logger } from '../observability/logger';
import { ADMIN_USER, type ServingCertificates } from '../apiserver/certificates';
import {
  CONTROLLER_NAMES,
  DEFAULT_SIGNING_DURATION_MS,
  DEFAULT_LEGACY_TOKEN_PERIOD_MS,
  DEFAULT_TERMINATED_PODS,
  startControllers,
} from '../controllers/start-controllers';
import { signersOf } from './controller-manager-flags';
import { printKubeconfig } from '../apiserver/kubeconfig';
import { LOOPBACK_NAME, loopbackCertificate } from '../apiserver/loopback-certificate';
import { prepareMaterial, startFromFlags, type CheckedFlags, type StartedServer } from './server-from-flags';
import { TokenUsers } from '../apiserver/token-users';

/** A control plane in one process: the API server and the controllers that a user misses without them. */
export interface ControlPlane extends Pick<RunningApiServer, 'handler' | 'upgrade'> {
  readonly url: string;
  /** PEM: what clients verify the server by. */
  readonly certificateAuthority: string;
  /** A client of system:masters. */
  readonly admin: Credentials;
  readonly users: Readonly<Record<string, Credentials>>;
  /** Acts as the administrator; closed with the control plane. */
  readonly client: ApiClient;
  /** Ends the controllers, then the server, then the store. A second call waits for the first. */
  stop(): Promise<void>;
}

export interface Credentials {
  readonly token: string;
  /** YAML text. */
  readonly kubeconfig: string;
}

export interface ControlPlaneOptions {
  readonly flags: CheckedFlags;
  readonly logger: Logger;
  /** Every request is logged, whatever the flags say. */
  readonly logRequests?: boolean;
  /** The groups of users to make, by name. */
  readonly users?: Readonly<Record<string, readonly string[]>>;
  /** Names of the controllers to run; all when absent. */
  readonly controllers?: readonly string[];
  /** Routes of others, besides those of `--extension`. */
  readonly extensions?: readonly Extension[];
  /** Called when the embedded store has to be opened again, which takes another process. */
  readonly onStoreLost?: (error: Error) => void;
}

const CLUSTER_NAME = 'sternpost';
/** How often it is looked whether the first service account is there. */
const LOOK_MS = 10;
const LOOKS = 500;

/**
 * Starts everything; resolves when requests are answered and what a fresh cluster has is there, pods' service account in
 * the namespace `default` included where its controller runs. What was started is ended when a part fails, the store included.
 */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { flags, logger } = options;
  const { bindAddress, tlsCertFile } = flags.options;
  const host = clientAddress(bindAddress);
  const loopback = tlsCertFile === '' ? undefined : loopbackCertificate(new Date());
  const material = prepareMaterial(flags, logger, [host], loopback?.addTo);
  const tokens = new TokenUsers();
  const adminToken = tokens.add(ADMIN_USER, [MASTERS_GROUP]);
  const userTokens = Object.entries(options.users ?? {}).map(
    ([name, groups]) => [name, tokens.add(name, groups)] as const,
  );
  const started = await startFromFlags(flags, material, logger, {
    logRequests: options.logRequests === true,
    tokenUsers: tokens.users,
    extensions: options.extensions ?? [],
    ...(options.onStoreLost && { onStoreLost: options.onStoreLost }),
  });
  const url = `https://${isIPv6(host) ? `[${host}]` : host}:${started.server.port}`;
  const { certificates } = material;
  const reach = { clusterName: CLUSTER_NAME, url, certificateAuthority: authorityOf(certificates) };
  const client = new ApiClient({
    url,
    ...ownCredentials(certificates, adminToken),
    ...(loopback === undefined ? {} : { certificateAuthority: loopback.authority, serverName: LOOPBACK_NAME }),
    userAgent: 'sternpost-controllers',
    record: started.server.restClient.record,
  });
  const stop = await startRest(started, client, certificates, logger, options.controllers ?? CONTROLLER_NAMES);
  const kubeconfigOf = (userName: string, token: string): string => printKubeconfig({ ...reach, userName, token });
  return {
    url,
    certificateAuthority: reach.certificateAuthority,
    admin: { token: adminToken, kubeconfig: adminKubeconfig(certificates, reach, adminToken) },
    users: Object.fromEntries(
      userTokens.map(([name, token]) => [name, { token, kubeconfig: kubeconfigOf(name, token) }]),
    ),
    client,
    handler: started.server.handler,
    upgrade: started.server.upgrade,
    stop,
  };
}

/** Waits until the server is ready, and starts the controllers. Gives what ends everything. */
async function startRest(
  { server, signingKey, stop }: StartedServer,
  client: ApiClient,
  certificates: ServingCertificates,
  logger: Logger,
  names: readonly string[],
): Promise<() => Promise<void>> {
  let controllers: ReturnType<typeof startControllers> = [];
  const end = async (): Promise<void> => {
    await Promise.all(controllers.map((controller) => controller.close()));
    client.close();
    await stop();
  };
  let ended: Promise<void> | undefined;
  const endOnce = (): Promise<void> => (ended ??= end());
  try {
    await server.ready;
    const context = {
      client,
      logger,
      queueMetrics: server.queues.of,
      rootCertificates: authorityOf(certificates),
      signingKey,
      signers: certificates.clientSigner === undefined ? {} : signersOf(certificates.clientSigner),
      signingDurationMs: DEFAULT_SIGNING_DURATION_MS,
      terminatedPodThreshold: DEFAULT_TERMINATED_PODS,
      legacyTokenPeriodMs: DEFAULT_LEGACY_TOKEN_PERIOD_MS,
    };
    // What is waited for comes first: the others would hold it up.
    const [first, rest] = [names.filter(isWaitedFor), names.filter((name) => !isWaitedFor(name))];
    controllers = startControllers(first, context);
    if (first.length > 0) await untilExists(client, '/api/v1/namespaces/default/serviceaccounts/default');
    controllers = [...controllers, ...startControllers(rest, context)];
    return endOnce;
  } catch (error) {
    await endOnce();
    throw error;
  }
}

/** Makes the account in the namespace `default`. */
function isWaitedFor(controller: string): boolean {
  return controller === 'serviceaccount';
}

/** Without it, the first pods would be refused. What cannot come (authorization may be anything) is not waited for. */
async function untilExists(client: ApiClient, path: string): Promise<void> {
  for (let left = LOOKS; left > 0; left--) {
    try {
      return void (await client.get(path));
    } catch (error) {
      if (!(error instanceof StatusError) || error.status.code !== 404) return;
      await delay(LOOK_MS);
    }
  }
}

/** Where clients on this machine find a server that listens there. */
function clientAddress(bindAddress: string): string {
  return ['', '0.0.0.0', '::'].includes(bindAddress) ? '127.0.0.1' : bindAddress;
}

/** A certificate from a file is all that is known of who issued it. */
function authorityOf({ servingAuthority, serving }: ServingCertificates): string {
  return servingAuthority ?? serving.certificatePem;
}

function ownCredentials(
  certificates: ServingCertificates,
  bearerToken: string,
): Omit<ClientConfig, 'url' | 'userAgent'> {
  const { admin } = certificates;
  const proof =
    admin === undefined ? { bearerToken } : { clientCertificate: admin.certificatePem, clientKey: admin.privateKeyPem };
  return { certificateAuthority: authorityOf(certificates), ...proof };
}

/** With a certificate where the client CA is our own: it holds after the next start, too. */
function adminKubeconfig(
  { admin }: ServingCertificates,
  reach: { readonly clusterName: string; readonly url: string; readonly certificateAuthority: string },
  token: string,
): string {
  const user = { ...reach, userName: ADMIN_USER };
  return admin === undefined
    ? printKubeconfig({ ...user, token })
    : printKubeconfig({ ...user, clientCertificate: admin.certificatePem, clientKey: admin.privateKeyPem });
}
