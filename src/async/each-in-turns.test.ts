import { eachInTurns } from './each-in-turns';
import { Turn } from './turn';

/** How often a turn was given up while so many values were gone through. */
async function turnsFor(values: readonly (number | Promise<number>)[]): Promise<{ seen: number[]; turns: number }> {
  const turn = new Turn('a test');
  const next = jest.spyOn(turn, 'next');
  jest.spyOn(turn, 'isOver', 'get').mockReturnValue(false);
  const seen: number[] = [];
  for await (const value of eachInTurns(values, turn)) seen.push(value);
  return { seen, turns: next.mock.calls.length };
}

it('goes through a few values at once, and waits for those that have to be waited for', async () => {
  expect(await turnsFor([1, Promise.resolve(2), 3])).toEqual({ seen: [1, 2, 3], turns: 0 });
});

it('lets others have their turn when there are more, before the time of the first is over', async () => {
  const many = Array.from({ length: 100 }, (_, index) => index);
  expect(await turnsFor(many)).toEqual({ seen: many, turns: 1 });
});

it('asks for a value when the one before it has been worked on', async () => {
  const log: string[] = [];
  function* values(): Iterable<number> {
    for (const value of [1, 2]) {
      log.push(`made ${value}`);
      yield value;
    }
  }
  for await (const value of eachInTurns(values(), new Turn('a test'))) log.push(`taken ${value}`);
  expect(log).toEqual(['made 1', 'taken 1', 'made 2', 'taken 2']);
});
