import { StatusError } from '../../api/errors/status-error';
import type { RequestContext } from './context';
import { LargeBodyPlaces } from './large-body-places';

/** A request of a user, as far as places know it. */
class Sender {
  readonly abort = new AbortController();
  readonly signal = this.abort.signal;
  readonly finished = false;
  readonly user: { readonly name: string };
  private readonly finishers: (() => void)[] = [];

  constructor(name: string) {
    this.user = { name };
  }

  onFinished(finisher: () => void): void {
    this.finishers.push(finisher);
  }

  finish(): void {
    for (const finisher of this.finishers) finisher();
  }
}

const limits = { workingBytes: 100, workingBytesPerUser: 100, waitingBytes: 30, waitingBytesPerUser: 20 };
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('places for large bodies', () => {
  let places: LargeBodyPlaces;
  let changes: number[];
  let begun: string[];
  beforeEach(() => {
    changes = [];
    begun = [];
    places = new LargeBodyPlaces(limits, (change) => changes.push(change));
  });

  async function take(sender: Sender, bytes = 60): Promise<void> {
    await places.acquire(sender as unknown as RequestContext, 10, bytes);
    begun.push(sender.user.name);
  }

  it('are as many as memory has room for, and are given back once', async () => {
    const [first, second, third] = [new Sender('a'), new Sender('a'), new Sender('b')];
    await take(first, 50);
    await take(second, 50);
    const waits = take(third, 50);
    expect([places.working, places.waiting]).toEqual([100, 1]);
    first.finish();
    first.finish();
    await waits;
    expect([places.working, places.waiting]).toEqual([100, 0]);
    second.finish();
    third.finish();
    expect(places.working).toBe(0);
    expect(changes).toEqual([50, 50, -50, 50, -50, -50]);
  });

  it('are there for a body that is larger than all room, alone', async () => {
    await take(new Sender('a'), 1_000);
    expect(begun).toEqual(['a']);
  });

  it('are given to users in turn', async () => {
    const senders = ['greedy', 'greedy', 'greedy', 'other'].map((name) => new Sender(name));
    const all = senders.map((sender) => take(sender));
    for (const index of [0, 1, 3, 2]) {
      await settled();
      senders[index]!.finish();
    }
    await Promise.all(all);
    expect(begun).toEqual(['greedy', 'greedy', 'other', 'greedy']);
  });

  it('are refused with 429 when too much waits', async () => {
    await take(new Sender('a'));
    const waiting = [take(new Sender('a')), take(new Sender('a')), take(new Sender('b'))];
    const refusals = await Promise.allSettled([take(new Sender('a')), take(new Sender('c'))]);
    for (const refusal of refusals) {
      expect(refusal.status).toBe('rejected');
      const { reason } = refusal as { readonly reason: unknown };
      expect(reason).toBeInstanceOf(StatusError);
      expect((reason as StatusError).status).toMatchObject({ code: 429, details: { retryAfterSeconds: 1 } });
    }
    expect(places.waiting).toBe(waiting.length);
  });

  it('are not kept for who has gone', async () => {
    const [first, gone, last] = [new Sender('a'), new Sender('b'), new Sender('c')];
    await take(first);
    const waits = [take(gone), take(last)];
    gone.abort.abort(new Error('gone'));
    await expect(waits[0]).rejects.toThrow('gone');
    first.finish();
    await waits[1];
    expect(begun).toEqual(['a', 'c']);
    last.finish();
    expect(places.working).toBe(0);
  });

  it('leave others room while one user has his share, who waits for his own', async () => {
    places = new LargeBodyPlaces({ ...limits, workingBytesPerUser: 50 });
    const [first, second, other, last] = [new Sender('a'), new Sender('a'), new Sender('b'), new Sender('b')];
    await take(first, 40);
    const waits = take(second, 40);
    await take(other, 30);
    await take(last, 20);
    expect(begun).toEqual(['a', 'b', 'b']);
    expect([places.working, places.waiting]).toEqual([90, 1]);
    first.finish();
    await waits;
    expect([places.working, places.waiting]).toEqual([90, 0]);
  });
});
