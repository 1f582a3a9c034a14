import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const LIMIT_MS = 300_000;

/**
 * Whatever a client sends, twice as much of it takes twice as many steps, or as n log n does. Counted and not timed. All places of all
 * kinds: `node -r ./test/growth/counting-hook.js test/growth/count-steps.ts all`; a part of a name instead of `all` selects.
 */
test(
  'no work on what a client sent grows faster than n log n',
  async () => {
    const hook = join(__dirname, 'counting-hook.js');
    const { stdout } = await promisify(execFile)(process.execPath, ['-r', hook, join(__dirname, 'count-steps.ts')], {
      timeout: LIMIT_MS,
    });
    const rows = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly subjects?: number });
    expect(rows.slice(0, -1)).toEqual([]);
    expect(rows.at(-1)?.subjects).toBeGreaterThan(100);
  },
  LIMIT_MS,
);
