import { createLogger, type Logger } from '../observability/logger';
import type { RegistryEnd } from '../storage/migrate/compare-registries';
import { copyRegistry } from '../storage/migrate/copy-registry';
import { remainingSeconds } from '../storage/migrate/event-lifetime';
import { pruneConsent } from '../storage/migrate/prune-consent';
import { describeFlags, parseFlags, UsageError, type FlagTable, type OptionsOf } from '../flags/flag-table';
import {
  DEFAULT_DATA_DIRECTORY_OPTIONS,
  openDataDirectory,
  openEtcd,
  problemsOfRegistryFile,
} from '../flags/open-store';
import { ProgressLine } from './progress-line';
import { storageFlags } from '../flags/storage-flags';
import { untilSignal } from './until-signal';

const END = 'the data directory of an embedded store, or the endpoints of etcd, comma-separated (scheme://host:port)';

const migrateFlags = {
  from: { type: 'string', section: 'Migration', help: `Where the registry is: ${END}.` },
  to: { type: 'string', section: 'Migration', help: `Where it shall be: ${END}.` },
  prune: {
    type: 'bool',
    section: 'Migration',
    help: 'Delete keys of the destination that the source does not have, instead of refusing to copy. Says beforehand how many of which resource.',
  },
  yes: {
    type: 'bool',
    section: 'Migration',
    help: 'With --prune: delete them also when they are more than a tenth of the destination.',
  },
  'event-ttl': {
    type: 'duration',
    section: 'Migration',
    default: '1h0m0s',
    help: 'How long Events live; copied ones get what is left of it.',
  },
  ...storageFlags,
  'etcd-prefix': { type: 'string', section: 'etcd', default: '/registry', help: 'Prefix of all keys in etcd.' },
  'etcd-cafile': { type: 'string', section: 'etcd', help: 'CA that verifies etcd.' },
  'etcd-certfile': { type: 'string', section: 'etcd', help: 'Client certificate for etcd.' },
  'etcd-keyfile': { type: 'string', section: 'etcd', help: 'Key of the client certificate for etcd.' },
  help: { type: 'bool', section: 'Misc', help: 'Print this text and exit.' },
} as const satisfies FlagTable;

type MigrateOptions = OptionsOf<typeof migrateFlags>;

const INTRODUCTION = `sternpost migrate: copies a whole registry from one store to another.

Stop the servers of both first. A source without a registry is an error, and is not made. A copy that was broken off goes on where it was when the command is given again; at the
end, both stores are compared. resourceVersions begin anew in the destination, so clients list anew.
`;

function problemsOf({ from, to, etcdCertfile, etcdKeyfile }: MigrateOptions): readonly string[] {
  return [
    ...(from === '' ? ['--from must be given'] : []),
    ...(to === '' ? ['--to must be given'] : []),
    ...(from !== '' && from === to ? ['--from and --to are the same'] : []),
    ...(from === '' || isEtcd(from) ? [] : problemsOfRegistryFile(from).map((problem) => `--from: ${problem}`)),
    ...((etcdCertfile === '') === (etcdKeyfile === '') ? [] : ['--etcd-certfile and --etcd-keyfile go together']),
  ];
}

function isEtcd(end: string): boolean {
  return /^https?:\/\//.test(end);
}

async function openEnd(end: string, options: MigrateOptions, logger: Logger): Promise<RegistryEnd> {
  const { store, keyRoot } = isEtcd(end)
    ? await openEtcd({ ...options, etcdServers: end.split(',') }, 0, logger)
    : await openDataDirectory(
        end,
        { ...DEFAULT_DATA_DIRECTORY_OPTIONS, quotaBytes: options.quotaBackendBytes },
        logger,
      );
  return { store, root: keyRoot };
}

/** `sternpost migrate`: ends when everything is copied and compared. */
export async function migrateCommand(argv: readonly string[]): Promise<void> {
  const { options } = parseFlags(migrateFlags, argv);
  if (options.help) {
    process.stdout.write(`${INTRODUCTION}\n${describeFlags(migrateFlags)}`);
    return;
  }
  const problems = problemsOf(options);
  if (problems.length > 0) throw new UsageError(problems);

  const logger = createLogger({ level: 'warn' });
  const stop = new AbortController();
  void untilSignal().then((signal) =>
    stop.abort(new Error(`stopped by ${signal}; the same command goes on from here`)),
  );
  const ends: RegistryEnd[] = [];
  const progress = new ProgressLine(process.stderr, 'keys');
  try {
    const from = await openEnd(options.from, options, logger);
    ends.push(from);
    const to = await openEnd(options.to, options, logger);
    ends.push(to);
    const { keys, written, deleted } = await copyRegistry({
      from,
      to,
      ttlSecondsOf: (path, value) => remainingSeconds(path, value, options.eventTtl / 1000, Date.now()),
      mayPrune: pruneConsent({
        prune: options.prune,
        yes: options.yes,
        announce: (text) => process.stderr.write(`${text}\n`),
      }),
      onProgress: (done, total) => progress.show(done, total),
      signal: stop.signal,
    });
    progress.end();
    process.stdout.write(`${keys} keys are the same in both stores (${written} written, ${deleted} deleted).\n`);
  } finally {
    progress.end();
    await Promise.all(ends.map(({ store }) => store.close()));
  }
}
