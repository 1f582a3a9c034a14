import { fill, filledInParts, mapEach } from './fill-later';
import { atOnce, type Steps } from './parts';

const numbers = Array.from({ length: 100 }, (_, index) => index);
const double = (number: number): number => 2 * number;
const fours = numbers.map((number) => 4 * number);

it('lists are made at once where nobody works in parts', () => {
  expect(mapEach(mapEach(numbers, double), double)).toEqual(fours);
});

it('lists made of lists are filled one element at a time, in their order', () => {
  const steps = filledInParts(() => mapEach(mapEach(numbers, double), double));
  let pauses = 0;
  for (;;) {
    const step = steps.next();
    if (step.done === true) {
      expect(step.value).toEqual(fours);
      break;
    }
    pauses += 1;
  }
  expect(pauses).toBeGreaterThanOrEqual(2 * numbers.length);
});

it('a list within another is filled as well', () => {
  const made = atOnce(filledInParts(() => mapEach(numbers, () => mapEach(numbers, double))));
  expect(made).toHaveLength(numbers.length);
  for (const list of made) expect(list).toEqual(numbers.map(double));
});

it('what fails while it is made fails in a step, and nothing is left noted', () => {
  const steps = filledInParts(() =>
    mapEach(numbers, () => {
      throw new Error('no such number');
    }),
  );
  expect(() => atOnce(steps)).toThrow('no such number');
  expect(mapEach(numbers, double)).toEqual(numbers.map(double));
});

it('a map is filled where it stands', () => {
  const map: Record<string, number> = {};
  function* entries(): Steps<void> {
    for (const number of numbers) {
      map[`n${number}`] = number;
      yield;
    }
  }
  const steps = filledInParts(() => {
    fill(entries());
    return map;
  });
  steps.next();
  expect(Object.keys(map)).toEqual([]);
  expect(Object.keys(atOnce(steps))).toHaveLength(numbers.length);
});
