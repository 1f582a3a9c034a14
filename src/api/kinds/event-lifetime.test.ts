import { CATALOGUE } from './catalogue';
import { withEventLifetime } from './event-lifetime';

describe('the time that events are kept', () => {
  it.each([
    [60_000, 60],
    [90_500, 90],
    [0, undefined],
  ])('of %i ms is %p seconds, and nothing else is touched', (lifetimeMs, seconds) => {
    const kinds = withEventLifetime(CATALOGUE, lifetimeMs);
    expect(kinds.find(({ kind }) => kind === 'Event')?.ttlSeconds).toBe(seconds);
    expect(kinds.filter((kind) => !CATALOGUE.includes(kind)).map(({ kind }) => kind)).toEqual(['Event']);
  });
});
