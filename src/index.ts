import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificateDirectory } from './cli/certificates';
import { startControlPlane, type ControlPlane } from './cli/control-plane';
import { nodeVersionProblem } from './cli/node-version';
import { DEFAULT_DATA_DIRECTORY_OPTIONS, openDataDirectory } from './cli/open-store';
import { createLogger, type Logger, type LogLevel } from './observability/logger';

export interface ApiServerOptions {
  /** A free port by default. */
  readonly port?: number;
  /** Where to keep data that outlive the server; a temporary folder, removed at the end, by default. */
  readonly dataDir?: string;
  /** What is written to standard error, from `debug` on with every request; only fatal problems by default. */
  readonly logLevel?: LogLevel;
}

/** A real API server in this process, with the controllers that tests miss most (namespace, service account). */
export interface ApiServer extends AsyncDisposable {
  /** `https://127.0.0.1:<port>`. */
  readonly url: string;
  /** YAML text of a kubeconfig for a client that may do everything. */
  readonly kubeconfig: string;
  /** Ends everything and waits for it; a second call waits for the first. */
  stop(): Promise<void>;
}

/**
 * Starts an API server for a test. Resolves when it answers; servers do not know each other, so any number may run side
 * by side.
 */
export async function startApiServer(options: ApiServerOptions = {}): Promise<ApiServer> {
  const problem = nodeVersionProblem();
  if (problem !== undefined) throw new Error(problem);
  const folder = options.dataDir ?? mkdtempSync(join(tmpdir(), 'sternpost-'));
  const logger = createLogger({ level: options.logLevel ?? 'fatal' });
  const removeFolder = (): void => {
    if (options.dataDir === undefined) rmSync(folder, { recursive: true, force: true });
  };
  const controlPlane = await start(folder, options.port ?? 0, logger).catch((error: unknown) => {
    removeFolder();
    throw error;
  });
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    await controlPlane.stop();
    removeFolder();
  };
  return {
    url: controlPlane.url,
    kubeconfig: controlPlane.kubeconfig,
    stop: () => (stopped ??= stop()),
    [Symbol.asyncDispose]: () => (stopped ??= stop()),
  };
}

async function start(folder: string, securePort: number, logger: Logger): Promise<ControlPlane> {
  const { store, keyRoot } = await openDataDirectory(folder, DEFAULT_DATA_DIRECTORY_OPTIONS, logger);
  return startControlPlane({
    store,
    keyRoot,
    certificateDirectory: certificateDirectory(folder),
    bindAddress: '127.0.0.1',
    securePort,
    logger,
    logRequests: logger.isLevelEnabled('debug'),
  });
}
