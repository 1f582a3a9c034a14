import { createLogger } from '../observability/logger';
import { describeFlags, parseFlags, UsageError, type FlagTable } from '../flags/flag-table';
import { compactDataDirectory, problemsOfRegistryFile } from '../flags/open-store';

const compactFlags = {
  'data-dir': {
    type: 'string',
    section: 'Compact',
    default: '.sternpost',
    help: 'Folder of the embedded store.',
  },
  history: {
    type: 'duration',
    section: 'Compact',
    default: '5m0s',
    help: 'How much history is kept; 0 keeps the newest state only.',
  },
  help: { type: 'bool', section: 'Compact', help: 'Print this text and exit.' },
} as const satisfies FlagTable;

const INTRODUCTION = `sternpost compact: makes the file of an embedded store as small as what it holds.

Stop the server first. Needs as much free space as the new file takes; when it is killed, the file is the old or the new one.
`;

/** `sternpost compact`: ends when the new file is in place. */
export async function compactCommand(argv: readonly string[]): Promise<void> {
  const { options } = parseFlags(compactFlags, argv);
  if (options.help) {
    process.stdout.write(`${INTRODUCTION}\n${describeFlags(compactFlags)}`);
    return;
  }
  const problems = problemsOfRegistryFile(options.dataDir);
  if (problems.length > 0) throw new UsageError(problems.map((problem) => `--data-dir: ${problem}`));
  const logger = createLogger({ level: 'warn' });
  const { path, bytesBefore, bytesAfter } = await compactDataDirectory(options.dataDir, options.history, logger);
  process.stdout.write(`${path}: ${mebibytes(bytesBefore)} MiB before, ${mebibytes(bytesAfter)} MiB now.\n`);
}

function mebibytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}
