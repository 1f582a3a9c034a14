import { ApiClient } from '../client/api-client';
import { standardErrorOutput } from '../observability/log-output';
import type { Logger } from '../observability/logger';
import type { Store } from '../storage/store';
import { startServer } from './api-server';
import { loadOrCreateSigningKey } from '../pki/signing-keys';
import { ownAuthentication, signingKeyFile } from './authentication-flags';
import { ADMIN_USER, loadCertificates, NO_CERTIFICATE_FILES, protectCertificates } from './certificates';
import { CONTROLLER_NAMES, startControllers } from './controllers';
import { printKubeconfig } from './kubeconfig';
import { DEFAULT_HTTP2 } from './http2-flags';
import { DEFAULT_SERVICE_RANGES } from './service-range-flags';
import { TlsMaterial } from './tls-material';

/** A control plane in one process: the API server on loopback and the controllers that a user misses without them. */
export interface ControlPlane {
  readonly url: string;
  /** YAML text for a client of system:masters. */
  readonly kubeconfig: string;
  /** Ends the controllers, then the server, then the store. */
  stop(): Promise<void>;
}

export interface ControlPlaneOptions {
  readonly store: Store;
  readonly keyRoot: string;
  /** Where generated keys and certificates are kept. */
  readonly certificateDirectory: string;
  readonly bindAddress: string;
  /** 0: any free port. */
  readonly securePort: number;
  readonly logger: Logger;
  /** Every request is logged. */
  readonly logRequests: boolean;
}

const ADDRESS = '127.0.0.1';
const DEFAULTS = { requestTimeoutMs: 60_000, minRequestTimeoutSeconds: 1800, shutdownDelayMs: 0, livezGraceMs: 0 };
const CLUSTER_NAME = 'sternpost';

/**
 * Starts everything; resolves when requests are answered and the default namespaces are there. RBAC decides, and the
 * kubeconfig's user may do all. What was started is ended when a part fails, the store included.
 */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  try {
    return await startParts(options);
  } catch (error) {
    await options.store.close();
    throw error;
  }
}

async function startParts(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { store, logger } = options;
  const directory = options.certificateDirectory;
  protectCertificates(directory, (message) => logger.warn(message));
  const signingKey = loadOrCreateSigningKey(signingKeyFile(directory));
  const load = () => loadCertificates(directory, NO_CERTIFICATE_FILES, [], new Date());
  const certificates = load();
  const tls = new TlsMaterial(certificates, { load, files: [], protocol: {}, logger });
  const authentication = ownAuthentication(await signingKey);
  const { admin, servingAuthority } = certificates;
  if (admin === undefined || servingAuthority === undefined) throw new Error('certificates are not our own');
  const server = await startServer({
    ...DEFAULTS,
    store,
    keyRoot: options.keyRoot,
    certificates,
    tls,
    http2: DEFAULT_HTTP2,
    bindAddress: options.bindAddress,
    securePort: options.securePort,
    advertiseAddress: ADDRESS,
    serviceRanges: DEFAULT_SERVICE_RANGES,
    authentication,
    authorization: { modes: ['Node', 'RBAC'], policyFile: '' },
    logger,
    logRequests: options.logRequests,
    checkLog: standardErrorOutput().check,
  });
  await server.ready.catch(async (error: unknown) => {
    await server.stop();
    throw error;
  });
  const url = `https://${ADDRESS}:${server.port}`;
  const client = new ApiClient({
    url,
    certificateAuthority: servingAuthority,
    clientCertificate: admin.certificatePem,
    clientKey: admin.privateKeyPem,
    userAgent: 'sternpost-controllers',
  });
  const controllers = startControllers(CONTROLLER_NAMES, {
    client,
    logger,
    rootCertificates: servingAuthority,
    signingKey: authentication.serviceAccounts.signingKey,
  });
  return {
    url,
    kubeconfig: printKubeconfig({
      clusterName: CLUSTER_NAME,
      userName: ADMIN_USER,
      url,
      certificateAuthority: servingAuthority,
      clientCertificate: admin.certificatePem,
      clientKey: admin.privateKeyPem,
    }),
    stop: async () => {
      await Promise.all(controllers.map((controller) => controller.close()));
      client.close();
      await server.stop();
      await store.close();
    },
  };
}
