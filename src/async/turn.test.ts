import type { Work } from './loop-work';
import { Turn } from './turn';

const nextLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a turn', () => {
  let now = 0;
  beforeEach(() => {
    jest.spyOn(performance, 'now').mockImplementation(() => now);
  });
  afterEach(() => jest.restoreAllMocks());

  beforeEach(nextLoop);

  it('is over after some milliseconds, and begins anew when it is told so or comes again', async () => {
    const turn = new Turn();
    expect(turn.isOver).toBe(false);
    now += 100;
    expect(turn.isOver).toBe(true);
    await nextLoop();
    turn.restart();
    expect(turn.isOver).toBe(false);
    now += 100;
    await turn.next();
    expect(turn.isOver).toBe(false);
  });

  it('is shared by works that begin before the loop has turned', async () => {
    const first = new Turn();
    now += 3;
    const second = new Turn();
    expect(second.isOver).toBe(false);
    now += 3;
    second.restart();
    expect([first, second, new Turn()].map((turn) => turn.isOver)).toEqual([true, true, true]);
    await nextLoop();
    expect(new Turn().isOver).toBe(false);
  });

  it('is shared by works that go on, as long as it lasts', async () => {
    const turns: number[] = [];
    let loop = 0;
    const work = async (): Promise<void> => {
      await new Turn().next();
      now += 2;
      turns.push(loop);
    };
    const works = Promise.all(Array.from({ length: 7 }, work));
    for (; loop < 4; loop++) await nextLoop();
    await works;
    expect(turns).toEqual([0, 0, 0, 1, 1, 1, 2]);
  });

  it('comes again after what has come meanwhile, one at a time where each uses it up', async () => {
    const order: string[] = [];
    const work = async (name: string): Promise<void> => {
      const turn = new Turn();
      for (let step = 0; step < 2; step++) {
        await turn.next();
        order.push(name);
        now += 6;
      }
    };
    const works = Promise.all([work('a'), work('b'), work('c')]);
    for (let loop = 0; loop < 6; loop++) {
      await nextLoop();
      order.push('|');
    }
    await works;
    expect(order.join('')).toBe('a|b|c|a|b|c|');
  });

  it('goes round by owner, so that who has many works waits for them alone', async () => {
    const order: string[] = [];
    const take = async (work: Work | string, name: string): Promise<void> => {
      await new Turn(work).next();
      order.push(name);
    };
    const many = { workOwner: 'many', describeWork: () => ({}) };
    const one = { workOwner: 'one', describeWork: () => ({}) };
    const works = Array.from({ length: 100 }, (_, index) => take(many, `${index}`));
    await Promise.all([...works, take(one, 'one'), take('loading', 'server')]);
    expect(order.slice(0, 4)).toEqual(['0', 'one', 'server', '1']);
    expect(order.slice(4)).toEqual(Array.from({ length: 98 }, (_, index) => `${index + 2}`));
  });
});
