import * as fc from 'fast-check';
import type { JsonObject } from '../object';
import { inBothForms } from '../steps/both-forms.fixture';
import * as fieldsInSteps from '../steps/generated/apply/fields-v1';
import * as algebraInSteps from '../steps/generated/apply/set-algebra';
import * as pathsInSteps from '../steps/generated/apply/set-paths';
import { has, isEmpty, setOf, type FieldSet } from './field-set';
import * as plainFields from './fields-v1';
import { compareElements, parseElement, printPath, type PathElement } from './path-element';
import * as plainAlgebra from './set-algebra';
import * as plainPaths from './set-paths';

const equals = inBothForms(plainAlgebra.equals, algebraInSteps.equals);
const union = inBothForms(plainAlgebra.union, algebraInSteps.union);
const intersection = inBothForms(plainAlgebra.intersection, algebraInSteps.intersection);
const difference = inBothForms(plainAlgebra.difference, algebraInSteps.difference);
const recursiveDifference = inBothForms(plainAlgebra.recursiveDifference, algebraInSteps.recursiveDifference);
const parseFieldsV1 = inBothForms(plainFields.parseFieldsV1, fieldsInSteps.parseFieldsV1);
const toFieldsV1 = inBothForms(plainFields.toFieldsV1, fieldsInSteps.toFieldsV1);
const paths = inBothForms(plainPaths.paths, pathsInSteps.paths);

const element = fc.constantFrom<PathElement>(
  'f:a',
  'f:b',
  'f:c',
  'k:{"name":"x"}',
  'k:{"name":"y"}',
  'v:1',
  'v:"s"',
  'i:0',
);
const path = fc.array(element, { minLength: 1, maxLength: 4 });
const fieldSet = fc.array(path, { maxLength: 12 }).map((list) => setOf(...list));

function texts(set: FieldSet): ReadonlySet<string> {
  return new Set(paths(set).map((each) => each.join(' ')));
}

function combine(
  left: FieldSet,
  right: FieldSet,
  keep: (inLeft: boolean, inRight: boolean) => boolean,
): ReadonlySet<string> {
  const [mine, theirs] = [texts(left), texts(right)];
  return new Set([...mine, ...theirs].filter((each) => keep(mine.has(each), theirs.has(each))));
}

describe('field sets', () => {
  it('unite, intersect and subtract as sets of paths do', () => {
    fc.assert(
      fc.property(fieldSet, fieldSet, (left, right) => {
        expect(texts(union(left, right))).toEqual(combine(left, right, () => true));
        expect(texts(intersection(left, right))).toEqual(combine(left, right, (a, b) => a && b));
        expect(texts(difference(left, right))).toEqual(combine(left, right, (a, b) => a && !b));
      }),
    );
  });

  it('obey the laws of set algebra', () => {
    fc.assert(
      fc.property(fieldSet, fieldSet, fieldSet, (a, b, c) => {
        expect(equals(union(a, b), union(b, a))).toBe(true);
        expect(equals(intersection(a, b), intersection(b, a))).toBe(true);
        expect(equals(union(a, union(b, c)), union(union(a, b), c))).toBe(true);
        expect(equals(intersection(a, union(b, c)), union(intersection(a, b), intersection(a, c)))).toBe(true);
        expect(equals(union(difference(a, b), intersection(a, b)), a)).toBe(true);
        expect(isEmpty(difference(a, a))).toBe(true);
      }),
    );
  });

  it('are the same object where an operation changes nothing', () => {
    fc.assert(
      fc.property(fieldSet, fieldSet, (a, b) => {
        expect(union(a, intersection(a, b))).toBe(a);
        expect(difference(a, difference(b, a))).toBe(a);
      }),
    );
  });

  it('subtract recursively what lies below the paths of the other set', () => {
    fc.assert(
      fc.property(fieldSet, fieldSet, (left, right) => {
        const roots = paths(right);
        const covered = (each: readonly string[]): boolean =>
          roots.some((root) => root.length <= each.length && root.every((step, i) => step === each[i]));
        const rest = paths(left).filter((each) => !covered(each));
        expect(texts(recursiveDifference(left, right))).toEqual(new Set(rest.map((each) => each.join(' '))));
      }),
    );
  });

  it('know their members', () => {
    const set = setOf(['f:a'], ['f:a', 'f:b', 'k:{"name":"x"}']);
    expect(has(set, ['f:a'])).toBe(true);
    expect(has(set, ['f:a', 'f:b'])).toBe(false);
    expect(has(set, ['f:a', 'f:b', 'k:{"name":"x"}'])).toBe(true);
    expect(has(set, ['f:z'])).toBe(false);
  });

  it('survive being written and read', () => {
    fc.assert(
      fc.property(fieldSet, (set) => {
        const copy = JSON.parse(JSON.stringify(toFieldsV1(set))) as JsonObject;
        expect(equals(parseFieldsV1(copy), set)).toBe(true);
      }),
    );
  });

  it('are written with a dot for a path that has others below it, and in canonical order', () => {
    const set = setOf(
      ['f:b'],
      ['f:a', 'v:"x"'],
      ['f:a'],
      ['f:a', 'k:{"n":10}'],
      ['f:a', 'k:{"n":9}'],
      ['f:a', 'f:z'],
      ['f:a', 'i:0'],
    );
    expect(JSON.stringify(toFieldsV1(set))).toBe(
      '{"f:a":{".":{},"f:z":{},"k:{\\"n\\":9}":{},"k:{\\"n\\":10}":{},"v:\\"x\\"":{},"i:0":{}},"f:b":{}}',
    );
  });

  it('read keys in any spelling and drop kinds of elements that they do not know', () => {
    const set = parseFieldsV1({ 'f:a': { 'k:{ "p":1, "n":"x" }': {}, 'q:new': { 'f:z': {} }, 'f:b': {} } });
    expect(paths(set)).toEqual([
      ['f:a', 'f:b'],
      ['f:a', 'k:{"n":"x","p":1}'],
    ]);
  });

  it.each([[{ a: {} }], [{ 'k:{': {} }], [{ 'k:1': {} }], [{ 'i:x': {} }], [{ 'f:a': 1 }]])('refuse %j', (fields) => {
    expect(() => parseFieldsV1(fields)).toThrow(SyntaxError);
  });

  it('list the members of a level before deeper ones', () => {
    expect(paths(setOf(['f:a', 'f:x'], ['f:b'], ['f:c', 'f:y'])).map(printPath)).toEqual(['.b', '.a.x', '.c.y']);
  });
});

describe('path elements', () => {
  it.each([
    [['f:spec', 'f:containers', 'k:{"name":"c"}', 'f:image'], '.spec.containers[name="c"].image'],
    [['f:set', 'v:"x"'], '.set[="x"]'],
    [['f:lm', 'k:{"name":"q","port":3}'], '.lm[name="q",port=3]'],
    [['f:l', 'i:2'], '.l[2]'],
  ])('of %j print as %s', (elements, expected) => {
    expect(printPath(elements)).toBe(expected);
  });

  it('order numbers before texts before booleans', () => {
    const ordered = [
      'f:a',
      'f:b',
      'k:{"a":1}',
      'k:{"a":1,"b":1}',
      'k:{"a":2}',
      'v:1',
      'v:2.5',
      'v:10',
      'v:"a"',
      'v:true',
      'i:0',
    ];
    expect([...ordered].reverse().sort(compareElements)).toEqual(ordered);
  });

  it('escape what Go escapes', () => {
    expect(parseElement('v:"a<b"')).toBe('v:"a\\u003cb"');
  });
});
