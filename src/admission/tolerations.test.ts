import type { Toleration } from './pod';
import { mergeTolerations } from './tolerations';

/** What an int64 is in memory beyond 2^53, whatever its type says. */
function tolerating(seconds: bigint | number): Toleration {
  return { key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: seconds as number };
}

describe('merged tolerations', () => {
  it('may tolerate for more seconds than a number can tell', () => {
    const [short, long, longest] = [tolerating(5), tolerating(9007199254740993n), tolerating(9007199254740995n)];
    expect(mergeTolerations([long, short], [longest])).toEqual([longest]);
    expect(mergeTolerations([long], [tolerating(9007199254740993n)])).toEqual([long]);
  });
});
