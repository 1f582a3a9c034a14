import fc from 'fast-check';
import { valueAt } from '../../api/kinds/field-values';
import { skimmedObject } from './skimmed-body';

function bodyOf(object: object): Buffer {
  return Buffer.from(JSON.stringify(object).slice(1));
}

const names = fc.oneof(fc.constantFrom('metadata', 'spec', 'status', 'a', '"', '\\', 'ü'), fc.string());
const scalar = fc.oneof(fc.string({ maxLength: 2_000 }), fc.integer(), fc.boolean(), fc.constant(null));
const value = fc.letrec<{ map: object; value: unknown }>((tie) => ({
  map: fc.dictionary(
    names.filter((name) => name !== '__proto__'),
    tie('value'),
    { maxKeys: 5 },
  ),
  value: fc.oneof({ maxDepth: 4 }, scalar, fc.array(scalar, { maxLength: 3 }), tie('map')),
})).map;

test('a field has the value that it has in the whole object', () => {
  fc.assert(
    fc.property(value, fc.array(names, { minLength: 1, maxLength: 3 }), scalar, (object, path, field) => {
      const inner = path.reduceRight<unknown>((held, name) => ({ ...object, [name]: held }), field) as object;
      const whole = JSON.parse(JSON.stringify(inner)) as object;
      const skimmed = skimmedObject(bodyOf(inner), path.join('.'));
      if (path.every((name) => !/[."\\]/.test(name) && name === JSON.stringify(name).slice(1, -1))) {
        expect(valueAt(skimmed, ...path)).toEqual(valueAt(whole, ...path));
      }
    }),
  );
});

test('of a large object little is parsed', () => {
  const containers = Array.from({ length: 10_000 }, (_, index) => ({ name: `c${index}` }));
  const pod = { metadata: { name: 'p' }, spec: { containers, nodeName: 'n' }, status: { phase: 'Running' } };
  const parse = jest.spyOn(JSON, 'parse');
  expect(skimmedObject(bodyOf(pod), 'spec.nodeName')).toEqual({ ...pod, spec: { nodeName: 'n' } });
  expect(parse.mock.calls[0]?.[0].length).toBeLessThan(1_000);
  parse.mockRestore();
});

test('a text that was written otherwise is left to the parser', () => {
  expect(skimmedObject(Buffer.from('"spec" : {"nodeName" : "n"}}'), 'spec.nodeName')).toBeUndefined();
});
