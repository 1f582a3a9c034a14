import { join, resolve } from 'node:path';
import { writePrivateFile } from '../files/private-files';
import { createLogger } from '../observability/logger';
import { certificateDirectory } from './certificates';
import { startControlPlane } from './control-plane';
import { describeFlags, parseFlags, type FlagTable } from './flag-table';
import { DEFAULT_DATA_DIRECTORY_OPTIONS, openDataDirectory } from './open-store';
import { storageFlags } from './storage-flags';
import { untilSignal } from './until-signal';
import { optimizeSoon } from './v8-flags';

const devFlags = {
  'data-dir': {
    type: 'string',
    section: 'Dev',
    default: '.sternpost',
    help: 'Folder of the store, the certificates and the kubeconfig.',
  },
  'secure-port': { type: 'port', section: 'Dev', default: '6443', help: 'Port for HTTPS; 0 picks a free one.' },
  'bind-address': { type: 'string', section: 'Dev', default: '127.0.0.1', help: 'Address to listen on.' },
  ...storageFlags,
  verbose: { type: 'bool', section: 'Dev', help: 'Log everything, every request included, not only warnings.' },
  help: { type: 'bool', section: 'Dev', help: 'Print this text and exit.' },
} as const satisfies FlagTable;

/** `sternpost dev`: everything in one process, until it is told to stop. */
export async function devCommand(argv: readonly string[]): Promise<void> {
  const { options } = parseFlags(devFlags, argv);
  if (options.help) {
    process.stdout.write(`sternpost dev: a control plane in one process.\n\n${describeFlags(devFlags)}`);
    return;
  }
  const { dataDir } = options;
  const logger = createLogger({ level: options.verbose ? 'info' : 'warn' });
  const { store, keyRoot } = await openDataDirectory(
    dataDir,
    { ...DEFAULT_DATA_DIRECTORY_OPTIONS, quotaBytes: options.quotaBackendBytes },
    logger,
  );
  const controlPlane = await startControlPlane({
    store,
    keyRoot,
    certificateDirectory: certificateDirectory(dataDir),
    bindAddress: options.bindAddress,
    securePort: options.securePort,
    logger,
    logRequests: options.verbose,
  });
  const kubeconfig = join(dataDir, 'kubeconfig');
  writePrivateFile(kubeconfig, controlPlane.kubeconfig);
  process.stdout.write(
    `Sternpost serves ${controlPlane.url}; its data are in ${dataDir}. Now type:\n` +
      `  export KUBECONFIG=${resolve(kubeconfig)}\n` +
      `  kubectl get namespaces\n`,
  );
  optimizeSoon();
  const signal = await untilSignal();
  // At a terminal, ^C stands on the line.
  process.stdout.write(`${process.stdout.isTTY ? '\n' : ''}Stopping (${signal}); once more ends it at once.\n`);
  await controlPlane.stop();
  process.stdout.write(`Stopped. The data stay in ${dataDir}.\n`);
}
