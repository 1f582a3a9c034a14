import type { Steps } from '../parts';
import { loadBuiltinSchema } from '../schema/builtin-schema';
import { decodeObject, type DecodeOptions, type DecodeResult } from './json-decode';
import { decodeObjectSteps } from './json-decode-steps';

const schema = loadBuiltinSchema();
const OPTIONS: DecodeOptions = { applyDefaults: true, collectUnknown: true };

function typeNamed(kind: string) {
  const type = schema.kind('', 'v1', kind);
  if (type === undefined) throw new Error(kind);
  return type;
}

function take(steps: Steps<DecodeResult>): DecodeResult & { readonly steps: number } {
  for (let count = 1; ; count += 1) {
    const step = steps.next();
    if (step.done === true) return { ...step.value, steps: count };
  }
}

function outcomeOf(decode: () => DecodeResult): unknown {
  try {
    const { object, unknownFields } = decode();
    // The order of keys counts.
    return { text: JSON.stringify(object), unknownFields };
  } catch (error) {
    return (error as Error).message;
  }
}

const many = <T>(make: (index: number) => T): T[] => Array.from({ length: 500 }, (_, index) => make(index));
const map = (make: (index: number) => unknown): object =>
  Object.fromEntries(many((index) => [`k${index}`, make(index)]));
const pod = (spec: object) => ['Pod', { metadata: { name: 'a' }, spec }] as const;
const configMap = (data: unknown, rest: object = {}) =>
  ['ConfigMap', { metadata: { name: 'a' }, data, ...rest }] as const;

test.each<[string, readonly [string, unknown]]>([
  [
    'a long list of structs',
    pod({ containers: many((index) => ({ name: `c${index}`, ports: [{ containerPort: 1 }] })) }),
  ],
  ['a long list in a short one', pod({ containers: [{ name: 'c', env: many((index) => ({ name: `A${index}` })) }] })],
  ['nulls in a list', pod({ containers: many((index) => (index % 2 === 0 ? null : { name: 'c' })) })],
  ['nulls in a map', configMap(map((index) => (index % 2 === 0 ? null : 'v')))],
  ['a map that is not sorted', configMap(Object.fromEntries(many((index) => [`k${499 - index}`, ''])))],
  ['unknown fields', pod({ foo: 1, containers: many((index) => ({ name: 'c', [`x${index}`]: { y: 1 } })) })],
  [
    'unknown fields of the object',
    configMap(
      { a: 'b' },
      map(() => 1),
    ),
  ],
  ['a wrong type in a list', pod({ containers: many((index) => ({ name: index === 400 ? 1 : 'c' })) })],
  ['a wrong type in a map', configMap(map((index) => (index === 400 ? {} : 'v')))],
  ['a list where a map should be', configMap(many(String))],
  ['a map where a list should be', pod({ containers: map(() => ({})) })],
  ['a long list where a text should be', pod({ nodeName: many(String) })],
  ['a wrong spelling', pod({ containers: many(() => ({ name: 'c', resources: { limits: { cpu: 'x' } } })) })],
  ['a list for an object', ['Pod', many(String)]],
  ['too many structs', pod({ containers: Array.from({ length: 90_000 }, () => ({})) })],
])('decodes %s as it is decoded at one stretch', (_, [kind, value]) => {
  const type = typeNamed(kind);
  const whole = outcomeOf(() => decodeObject(type, value, OPTIONS));
  expect(outcomeOf(() => take(decodeObjectSteps(type, value, OPTIONS)))).toEqual(whole);
});

test('each element of what is large is a step', () => {
  const stepsFor = ([kind, value]: readonly [string, unknown]): number =>
    take(decodeObjectSteps(typeNamed(kind), value, OPTIONS)).steps;
  expect(stepsFor(configMap(map(() => 'v')))).toBeGreaterThan(500);
  expect(stepsFor(pod({ containers: [{ name: 'c', env: many((index) => ({ name: `A${index}` })) }] }))).toBeGreaterThan(
    500,
  );
  expect(stepsFor(configMap({ a: 'b' }))).toBe(1);
});
