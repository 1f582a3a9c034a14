import type { Work } from './loop-work';
import { Turn } from './turn';

const nextLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a turn', () => {
  let now = 0;
  beforeEach(() => {
    jest.spyOn(performance, 'now').mockImplementation(() => now);
  });
  afterEach(() => jest.restoreAllMocks());

  it('is over after some milliseconds, and begins anew when it is told so or comes again', async () => {
    const turn = new Turn();
    expect(turn.isOver).toBe(false);
    now += 100;
    expect(turn.isOver).toBe(true);
    turn.restart();
    expect(turn.isOver).toBe(false);
    now += 100;
    await turn.next();
    expect(turn.isOver).toBe(false);
  });

  it('comes again after what has come meanwhile, and only one at a time', async () => {
    const order: string[] = [];
    const work = async (name: string): Promise<void> => {
      const turn = new Turn();
      for (let step = 0; step < 2; step++) {
        await turn.next();
        order.push(name);
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
