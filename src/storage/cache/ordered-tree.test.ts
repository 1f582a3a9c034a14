import fc from 'fast-check';
import { OrderedTree } from './ordered-tree';

const segment = fc.constantFrom('a', 'b', 'ab', 'a-b', 'a.b', '\u{1F600}', '\uFFFD', 'ß', 'zz');
const key = fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => `/r/${segments.join('/')}`);
const change = fc.record({ key, keep: fc.boolean() });

function bytewise(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function expected(model: ReadonlyMap<string, string>, prefix: string, start = ''): string[] {
  return [...model.keys()]
    .filter((candidate) => candidate.startsWith(prefix) && bytewise(candidate, start) >= 0)
    .sort(bytewise);
}

describe('OrderedTree', () => {
  it('holds what a map holds, in the order of the bytes, and clones stay as they were', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 300 }), key, key, (changes, prefix, start) => {
        const tree = OrderedTree.empty<string>();
        const model = new Map<string, string>();
        const clones: { tree: OrderedTree<string>; keys: string[] }[] = [];
        changes.forEach((step, index) => {
          if (index % 20 === 0) clones.push({ tree: tree.clone(), keys: expected(model, '') });
          if (step.keep) {
            tree.set(step.key, step.key);
            model.set(step.key, step.key);
          } else {
            tree.delete(step.key);
            model.delete(step.key);
          }
          expect(tree.get(step.key)).toBe(model.get(step.key));
        });
        expect(tree.size).toBe(model.size);
        for (const range of [[''], ['/r/'], [prefix], ['/r/a'], ['/r/', start], [prefix, start]] as [
          string,
          string?,
        ][]) {
          const keys = expected(model, ...range);
          expect([...tree.range(...range)]).toEqual(keys);
          expect(tree.count(...range)).toBe(keys.length);
        }
        for (const clone of clones) expect([...clone.tree.range('')]).toEqual(clone.keys);
      }),
      { numRuns: 100 },
    );
  });

  it('counts and pages through many keys', () => {
    const keys = Array.from({ length: 5000 }, (_, i) => `/r/ns-${String(i % 7)}/${String(i).padStart(5, '0')}`).sort(
      bytewise,
    );
    const tree = OrderedTree.fromSorted(keys, keys);
    expect(tree.size).toBe(5000);
    expect(tree.count('/r/')).toBe(5000);
    const inNamespace = keys.filter((name) => name.startsWith('/r/ns-3/'));
    expect([...tree.range('/r/ns-3/')]).toEqual(inNamespace);
    for (const start of [0, 1, 100, inNamespace.length - 1]) {
      const after = `${inNamespace[start]}\0`;
      expect(tree.count('/r/ns-3/', after)).toBe(inNamespace.length - start - 1);
      expect([...tree.range('/r/ns-3/', after)]).toEqual(inNamespace.slice(start + 1));
    }
  });
});
