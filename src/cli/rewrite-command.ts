import { createLogger } from '../observability/logger';
import { covers } from '../storage/encryption/configuration';
import { keyResources } from '../storage/encryption/key-resources';
import { rewriteRegistry } from '../storage/encryption/rewrite';
import { remainingSeconds } from '../storage/migrate/event-lifetime';
import { encryptionFlags } from '../flags/encryption-flags';
import { openEncryption, storedResources } from '../flags/open-encryption';
import { describeFlags, parseFlags, UsageError, type FlagTable } from '../flags/flag-table';
import {
  DEFAULT_DATA_DIRECTORY_OPTIONS,
  openDataDirectory,
  openEtcd,
  problemsOfRegistryFile,
} from '../flags/open-store';
import { storageFlags } from '../flags/storage-flags';
import { ProgressLine } from './progress-line';
import { untilSignal } from './until-signal';

const rewriteFlags = {
  resource: {
    type: 'strings',
    section: 'Rewrite',
    help: 'Which resources: secrets, deployments.apps, *.apps ... All that the configuration names, and those that it does not name any more, when absent.',
  },
  'encryption-provider-config': encryptionFlags['encryption-provider-config'],
  'event-ttl': {
    type: 'duration',
    section: 'Rewrite',
    default: '1h0m0s',
    help: 'How long Events live; those that are written again get what is left of it.',
  },
  'data-dir': { type: 'string', section: 'Storage', help: 'Folder of an embedded store.' },
  ...storageFlags,
  'etcd-servers': { type: 'strings', section: 'etcd', help: 'Endpoints of etcd (scheme://host:port).' },
  'etcd-prefix': { type: 'string', section: 'etcd', default: '/registry', help: 'Prefix of all keys in etcd.' },
  'etcd-cafile': { type: 'string', section: 'etcd', help: 'CA that verifies etcd.' },
  'etcd-certfile': { type: 'string', section: 'etcd', help: 'Client certificate for etcd.' },
  'etcd-keyfile': { type: 'string', section: 'etcd', help: 'Key of the client certificate for etcd.' },
  help: { type: 'bool', section: 'Misc', help: 'Print this text and exit.' },
} as const satisfies FlagTable;

const INTRODUCTION = `sternpost rewrite: writes stored objects again that would be encrypted otherwise today.

For after the keys of --encryption-provider-config have changed, or encryption was turned on or off. Servers on etcd may go on serving; stop the
server of an embedded store first. What was broken off goes on where it was when the command is given again.
`;

/** `sternpost rewrite`: ends when everything is written as the configuration says. Fails when something cannot be read. */
export async function rewriteCommand(argv: readonly string[]): Promise<void> {
  const { options } = parseFlags(rewriteFlags, argv);
  if (options.help) {
    process.stdout.write(`${INTRODUCTION}\n${describeFlags(rewriteFlags)}`);
    return;
  }
  const { dataDir, etcdServers } = options;
  const problems = [
    ...(options.encryptionProviderConfig === '' ? ['--encryption-provider-config must be given'] : []),
    ...((dataDir === '') === (etcdServers.length === 0) ? ['either --data-dir or --etcd-servers must be given'] : []),
    ...(dataDir === '' ? [] : problemsOfRegistryFile(dataDir).map((problem) => `--data-dir: ${problem}`)),
  ];
  if (problems.length > 0) throw new UsageError(problems);

  const logger = createLogger({ level: 'warn' });
  const stop = new AbortController();
  void untilSignal().then((signal) =>
    stop.abort(new Error(`stopped by ${signal}; the same command goes on from here`)),
  );
  const encryption = openEncryption({ ...options, encryptionProviderConfigAutomaticReload: false }, logger);
  if (encryption === undefined) return;
  const { store: plain, keyRoot } =
    dataDir === ''
      ? await openEtcd(options, 0, logger)
      : await openDataDirectory(
          dataDir,
          { ...DEFAULT_DATA_DIRECTORY_OPTIONS, quotaBytes: options.quotaBackendBytes },
          logger,
        );
  const resourceOf = keyResources(keyRoot, storedResources());
  const store = encryption.wrap(plain, keyRoot, resourceOf);
  const progress = new ProgressLine(process.stderr, 'keys');
  try {
    const { looked, rewritten, unreadable } = await rewriteRegistry(store, {
      keyRoot,
      concerns: (key) => {
        const resource = resourceOf(key);
        const { resource: wanted } = options;
        return resource !== undefined && (wanted.length === 0 || wanted.some((pattern) => covers(pattern, resource)));
      },
      ttlSecondsOf: (path, value) => remainingSeconds(path, value, options.eventTtl / 1000, Date.now()),
      onProgress: (done, total) => progress.show(done, total),
      signal: stop.signal,
    });
    progress.end();
    process.stdout.write(`${looked} objects were looked at, ${rewritten} were written again.\n`);
    for (const { key, problem } of unreadable) process.stderr.write(`${key}: ${problem}\n`);
    if (unreadable.length > 0) throw new Error(`${unreadable.length} objects cannot be read`);
  } finally {
    progress.end();
    await store.close();
    encryption.close();
  }
}
