import { execFileSync } from 'node:child_process';
import { servingFlags, startFlags } from './v8-flags';

const NODE_MAJOR = Number(process.versions.node.split('.')[0]);

describe("V8's flags", () => {
  it('are known to the V8 that runs this', () => {
    const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
    const names = [...startFlags(NODE_MAJOR), ...servingFlags(NODE_MAJOR)].map((flag) =>
      flag.replace(/^--(no-)?/, '').replace(/=.*$/, ''),
    );
    expect(names).toHaveLength(NODE_MAJOR === 24 ? 1 : 2);
    for (const name of names) expect(known).toMatch(new RegExp(`^ +--${name} `, 'm'));
  });

  it.each([18, 26, 99])('are left alone on Node %i, whose list was not read', (nodeMajor) => {
    expect([...startFlags(nodeMajor), ...servingFlags(nodeMajor)]).toEqual([]);
  });
});
