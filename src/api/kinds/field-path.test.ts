import { changeFields, fieldsAt, parseFieldPath } from './field-path';

describe('a path of fields', () => {
  const object = { spec: { rules: [{ port: 1, end: 2 }, { port: 3 }], other: { end: 4 } } };
  const path = parseFieldPath('spec.rules.*.end');

  it('leads into each item of a list', () => {
    expect(changeFields(object, path, () => 9)).toEqual({
      spec: { rules: [{ port: 1, end: 9 }, { port: 3 }], other: { end: 4 } },
    });
  });

  it('takes fields out', () => {
    expect(changeFields(object, path, () => undefined)).toEqual({
      spec: { rules: [{ port: 1 }, { port: 3 }], other: { end: 4 } },
    });
  });

  it('leaves alone what it does not lead to', () => {
    const changed = changeFields(object, path, () => 9);
    expect(changed.spec.other).toBe(object.spec.other);
    expect(changed.spec.rules[1]).toBe(object.spec.rules[1]);
    expect(changeFields(object, parseFieldPath('spec.nothing.*.end'), () => 9)).toBe(object);
    expect(changeFields({ spec: null }, path, () => 9)).toEqual({ spec: null });
  });

  it('finds every field that it leads to', () => {
    expect(fieldsAt(object, path)).toEqual([2]);
    expect(fieldsAt(object, parseFieldPath('spec.rules.*.port'))).toEqual([1, 3]);
    expect(fieldsAt({ spec: { rules: [{ port: 1 }, { end: null }] } }, path)).toEqual([]);
    expect(fieldsAt(undefined, path)).toEqual([]);
  });
});
