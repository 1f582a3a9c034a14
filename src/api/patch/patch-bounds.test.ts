import type { JsonObject } from '../object';
import { widget } from '../apply/merge-model.fixture';
import { codeOf } from '../errors/code-of.fixture';
import { applyJsonPatch } from './json-patch';
import { MAX_REPEATED_VALUES } from './repeated-merges';
import { applyStrategicMergePatch } from './strategic-merge';

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

describe('bounds of patches', () => {
  it('refuses a strategic patch that merges a large item again and again', () => {
    const tags = numbers(1_000).map(String);
    const original: JsonObject = { spec: { items: [{ name: 'a', value: 'x', tags }] } };
    const again = numbers(MAX_REPEATED_VALUES / 1_000 + 2).map(() => ({ name: 'a', value: 'y' }));
    expect(codeOf(() => applyStrategicMergePatch(widget, original, { spec: { items: again } }))).toBe(413);
    expect(codeOf(() => applyStrategicMergePatch(widget, original, { spec: { items: again.slice(0, 100) } }))).toBe(
      undefined,
    );
  });

  it('finds items whose merge key is a map', () => {
    const items = [{ name: { a: 1, b: 2 }, value: 'x' }];
    const patch = [{ name: { b: 2, a: 1 }, value: 'y' }];
    const merged = applyStrategicMergePatch(widget, { spec: { items } }, { spec: { items: patch } });
    expect(merged['spec']).toEqual({ items: [{ name: { a: 1, b: 2 }, value: 'y' }] });
  });

  it('refuses a JSON patch that moves a long list thousands of times', () => {
    const list = numbers(100_000);
    const first = numbers(1_000).map(() => ({ op: 'add', path: '/list/0', value: 1 }));
    expect(codeOf(() => applyJsonPatch({ list }, first))).toBe(413);
    const last = numbers(1_000).map(() => ({ op: 'add', path: '/list/-', value: 1 }));
    expect(codeOf(() => applyJsonPatch({ list }, last))).toBeUndefined();
  });

  it('refuses a JSON patch whose copies of copies nest too deep', () => {
    const copies = numbers(14).map((turn) => ({ op: 'copy', from: '', path: '/a'.repeat(2 ** turn) }));
    expect(codeOf(() => applyJsonPatch({ a: {} }, copies))).toBe(422);
  });
});
