import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const LIMIT_MS = 600_000;

interface Row {
  readonly subjects?: number;
}

/** What a program prints in a process of its own: how many subjects it has looked at, and before that those that grow too fast. */
async function rowsOf(program: string): Promise<readonly Row[]> {
  const hook = join(__dirname, 'counting-hook.js');
  const { stdout } = await promisify(execFile)(process.execPath, ['-r', hook, join(__dirname, program)], {
    timeout: LIMIT_MS,
  });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
}

/**
 * Whatever a client sends, twice as much of it takes twice as many steps, or as n log n does. Counted and not timed. All places of all
 * kinds: `node -r ./test/growth/counting-hook.js test/growth/count-steps.ts all`; a part of a name instead of `all` selects.
 */
test(
  'no work on what a client sent grows faster than n log n',
  async () => {
    const rows = await rowsOf('count-steps.ts');
    expect(rows.slice(0, -1)).toEqual([]);
    expect(rows.at(-1)?.subjects).toBeGreaterThan(100);
  },
  LIMIT_MS,
);

/** The same for whole requests; `count-request-steps.ts` takes a part of a name, too. */
test(
  'no request takes steps that grow faster than n log n with any of its parts',
  async () => {
    const rows = await rowsOf('count-request-steps.ts');
    expect(rows.slice(0, -1)).toEqual([]);
    expect(rows.at(-1)?.subjects).toBeGreaterThan(40);
  },
  LIMIT_MS,
);
