import { createLogger, type LogFormat } from '../observability/logger';
import { apiserverFlags } from '../flags/apiserver-flags';
import { describeFlags, parseFlags } from '../flags/flag-table';
import { ignoredFlags } from '../flags/ignored-flags';
import { checkFlags, prepareMaterial, startFromFlags } from '../flags/server-from-flags';
import { unbuiltFlags } from '../flags/unbuilt-flags';
import { collectWhenIdle } from './idle-collection';
import { optimizeSoon } from './v8-flags';
import { lostStore } from './lost-store';
import { VERSION } from '../apiserver/version';
import { shareMetrics } from './worker-metrics';
import { isWorker, leave, reportServing, runWorkers, untilStopped } from './workers';

/** Who knows only "sternpost dev" waits in vain for a deleted namespace to go. */
const NO_CONTROLLERS =
  'no controllers run in this process: without any, deleted namespaces stay and new ones get no service account. ' +
  'Run "sternpost controller-manager --kubeconfig ..." ("sternpost kubeconfig" makes one) or kube-controller-manager';

/** `sternpost apiserver`: serves until SIGTERM, then ends gracefully. */
export async function apiserverCommand(argv: readonly string[]): Promise<void> {
  const { options, warnings } = parseFlags(apiserverFlags, argv, ignoredFlags, unbuiltFlags);
  if (options.help) {
    process.stdout.write(
      `sternpost apiserver: the API server, with kube-apiserver's flags.\n\n${describeFlags(apiserverFlags)}`,
    );
    return;
  }
  if (options.version) {
    process.stdout.write(`${VERSION}\n`);
    return;
  }
  const flags = checkFlags(options, warnings);
  const logger = createLogger(options.loggingFormat === '' ? {} : { format: options.loggingFormat as LogFormat });
  for (const warning of flags.warnings) logger.warn(warning);
  const material = prepareMaterial(flags, logger);
  if (options.anonymousAuth && options.authorizationMode.includes('AlwaysAllow')) {
    logger.warn('anonymous requests are off with the mode AlwaysAllow');
  }
  if (!isWorker()) logger.info(NO_CONTROLLERS);
  if (options.workers > 1 && !isWorker()) {
    // What is made on the first start is made by now, once for all of them.
    await material.signingKey;
    material.tls.close();
    return runWorkers(options.workers, logger);
  }
  const stopped = untilStopped();
  const { lost, onStoreLost } = lostStore();
  const extras = { onStoreLost, ...(isWorker() && { shareMetrics }) };
  const { server, stop } = await startFromFlags(flags, material, logger, extras);
  logger.info({ port: server.port, version: VERSION }, 'serving');
  reportServing();
  // A server that cannot become ready ends the command.
  const failed = server.ready.then(() => {
    optimizeSoon();
    collectWhenIdle();
    return new Promise<never>(() => undefined);
  });
  const signal = await Promise.race([stopped, failed, lost]);
  logger.info({ signal }, 'shutting down');
  await stop();
  leave();
}
