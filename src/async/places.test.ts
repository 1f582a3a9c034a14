import { Places } from './places';

const LONG_MS = 60_000;

it('so many have a place at once, and others come after them in the order in which they asked', async () => {
  const places = new Places(2);
  const order: number[] = [];
  const asking = [1, 2, 3, 4].map(async (one) => {
    expect(await places.acquire(LONG_MS)).toBe(true);
    order.push(one);
  });
  await Promise.all(asking.slice(0, 2));
  expect([order, places.waiting]).toEqual([[1, 2], 2]);
  places.release();
  await asking[2];
  expect([order, places.waiting]).toEqual([[1, 2, 3], 1]);
  places.release();
  await asking[3];
  for (let one = 0; one < 2; one += 1) places.release();
  expect(await places.acquire(0)).toBe(true);
});

it('who has waited long enough has no place, and is in nobody else’s way', async () => {
  const places = new Places(1);
  expect(await places.acquire(0)).toBe(true);
  expect(await places.acquire(1)).toBe(false);
  const next = places.acquire(LONG_MS);
  places.release();
  expect(await next).toBe(true);
  expect(places.waiting).toBe(0);
});
