import type { JsonObject } from '../object';
import { adaptDynamic, type DataMap } from './data';

/** A map of so many names, and how often its names have been listed. */
function counted(names: number): { readonly data: JsonObject; readonly listings: () => number } {
  let listings = 0;
  const data = new Proxy(Object.fromEntries(Array.from({ length: names }, (_, index) => [`name-${index}`, 'value'])), {
    ownKeys: (target) => {
      listings += 1;
      return Reflect.ownKeys(target);
    },
  });
  return { data, listings: () => listings };
}

const namesIn = (data: JsonObject): readonly string[] => (adaptDynamic(data) as DataMap).keys();

describe('a map of an object', () => {
  it('has the names of what is there', () => {
    expect(namesIn({ a: 1, b: undefined, c: null })).toEqual(['a', 'c']);
  });

  it('is listed once when it is large, however often an expression asks for it', () => {
    const { data, listings } = counted(1_000);
    for (let times = 0; times < 10; times += 1) expect(namesIn(data)).toHaveLength(1_000);
    expect(listings()).toBe(1);
  });
});
