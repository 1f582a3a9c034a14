import { join, resolve } from 'node:path';
import { writePrivateFile } from '../files/private-files';
import { createLogger } from '../observability/logger';
import { startControlPlane } from '../flags/control-plane';
import { parseControlPlaneFlags } from '../flags/control-plane-flags';
import { extensionFlags } from '../flags/extension-flags';
import { describeFlags, parseFlags, type FlagTable } from '../flags/flag-table';
import { flagArguments } from '../flags/flag-values';
import { checkFlags } from '../flags/server-from-flags';
import { storageFlags } from '../flags/storage-flags';
import { CONTROLLER_NAMES, OFF_BY_DEFAULT, selectControllers } from '../controllers/start-controllers';
import { lostStore } from './lost-store';
import { untilSignal } from './until-signal';
import { collectWhenIdle } from './idle-collection';
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
  controllers: {
    type: 'strings',
    section: 'Dev',
    default: ['*', ...OFF_BY_DEFAULT].join(','),
    help: `Controllers to run: "*" is all that are on by default, "name" turns one on, "-name" off. There are ${CONTROLLER_NAMES.join(', ')}.`,
  },
  ...extensionFlags,
  v: {
    type: 'int',
    section: 'Dev',
    default: '0',
    help: 'How much is logged, as of "sternpost apiserver": from 3 on every request, from 4 on what helps to find faults, from 6 on everything.',
  },
  verbose: { type: 'bool', section: 'Dev', help: 'Log everything, every request included, not only warnings.' },
  help: { type: 'bool', section: 'Dev', help: 'Print this text and exit.' },
} as const satisfies FlagTable;

/** `sternpost dev`: everything in one process, until it is told to stop. */
export async function devCommand(given: readonly string[]): Promise<void> {
  const { options } = parseFlags(devFlags, given);
  if (options.help) {
    process.stdout.write(`sternpost dev: a control plane in one process.\n\n${describeFlags(devFlags)}`);
    return;
  }
  const { dataDir } = options;
  const logger = createLogger({ level: options.verbose ? 'info' : 'warn' });
  const argv = flagArguments({
    'data-dir': dataDir,
    'secure-port': options.securePort,
    'bind-address': options.bindAddress,
    'quota-backend-bytes': options.quotaBackendBytes,
    extension: options.extension,
    v: options.v,
  });
  const parsed = parseControlPlaneFlags(argv);
  const flags = checkFlags(parsed.options, parsed.warnings);
  const { lost, onStoreLost } = lostStore();
  const controlPlane = await startControlPlane({
    onStoreLost,
    flags,
    logger,
    logRequests: options.verbose,
    controllers: selectControllers(options.controllers),
  });
  const kubeconfig = join(dataDir, 'kubeconfig');
  writePrivateFile(kubeconfig, controlPlane.admin.kubeconfig);
  process.stdout.write(
    `Sternpost serves ${controlPlane.url}; its data are in ${dataDir}. Now type:\n` +
      `  export KUBECONFIG=${resolve(kubeconfig)}\n` +
      `  kubectl get namespaces\n`,
  );
  optimizeSoon();
  collectWhenIdle();
  const signal = await Promise.race([untilSignal(), lost]);
  // At a terminal, ^C stands on the line.
  process.stdout.write(`${process.stdout.isTTY ? '\n' : ''}Stopping (${signal}); once more ends it at once.\n`);
  await controlPlane.stop();
  process.stdout.write(`Stopped. The data stay in ${dataDir}.\n`);
}
