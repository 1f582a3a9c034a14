import type { AuthenticationResult } from './credentials';
import { cachedTokenAuthenticator } from './token-cache';

function counting(result: AuthenticationResult) {
  const asked: string[] = [];
  return { asked, authenticate: async (token: string) => (asked.push(token), result) };
}
const alice = { user: { name: 'alice', groups: [] } };

describe('the token cache', () => {
  it('asks once for a good token until its time is over', async () => {
    let now = 1;
    const { asked, authenticate } = counting(alice);
    const cached = cachedTokenAuthenticator(authenticate, { successTtlMs: 10, failureTtlMs: 0, clock: () => now });
    await cached('t', []);
    now = 11;
    await cached('t', []);
    expect(asked).toHaveLength(1);
    now = 12;
    await cached('t', []);
    expect(asked).toHaveLength(2);
  });

  it('does not keep refusals unless told to', async () => {
    for (const [failureTtlMs, times] of [
      [0, 2],
      [5, 1],
    ] as const) {
      const { asked, authenticate } = counting({ refused: 'no' });
      const cached = cachedTokenAuthenticator(authenticate, { successTtlMs: 10, failureTtlMs, clock: () => 1 });
      await cached('t', []);
      await cached('t', []);
      expect(asked).toHaveLength(times);
    }
  });

  it('asks anew, within the time, for what is no longer current', async () => {
    let isCurrent = true;
    const { asked, authenticate } = counting({ ...alice, isCurrent: () => isCurrent });
    const cached = cachedTokenAuthenticator(authenticate, { successTtlMs: 10, failureTtlMs: 0, clock: () => 1 });
    await cached('t', []);
    await cached('t', []);
    expect(asked).toHaveLength(1);
    isCurrent = false;
    await cached('t', []);
    expect(asked).toHaveLength(2);
  });

  it('keeps tokens and audiences apart', async () => {
    const { asked, authenticate } = counting(alice);
    const cached = cachedTokenAuthenticator(authenticate, { successTtlMs: 10, failureTtlMs: 0, clock: () => 1 });
    await cached('t', ['a']);
    await cached('t', ['b']);
    await cached('ta', []);
    expect(asked).toHaveLength(3);
  });

  it('knows a token again by the connection it came on, and no other token of that connection', async () => {
    const { asked, authenticate } = counting(alice);
    const lookUps: string[] = [];
    const cached = cachedTokenAuthenticator(authenticate, {
      successTtlMs: 10,
      failureTtlMs: 0,
      clock: () => 1,
      asked: (status) => lookUps.push(status),
    });
    const [audiences, one, other] = [['a'], {}, {}];
    await cached('t', audiences, one);
    await cached('t', audiences, one);
    await cached('t', audiences, other);
    expect(asked).toEqual(['t']);
    await cached('u', audiences, one);
    await cached('t', ['b'], one);
    expect(asked).toEqual(['t', 'u', 't']);
    await cached('t', audiences, one);
    expect(lookUps).toEqual(['miss', 'hit', 'hit', 'miss', 'miss', 'hit']);
  });

  it('lets requests that come together share one question, and forgets a failed one', async () => {
    let asked = 0;
    const cached = cachedTokenAuthenticator(
      async () => {
        if (++asked === 1) throw new Error('down');
        return alice;
      },
      { successTtlMs: 10, failureTtlMs: 10, clock: () => 1 },
    );
    const both = await Promise.allSettled([cached('t', []), cached('t', [])]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(cached('t', [])).resolves.toEqual(alice);
    expect(asked).toBe(2);
  });
});
