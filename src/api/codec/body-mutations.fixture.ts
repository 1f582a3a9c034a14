import type { ScalarName, SpecialType, StructType, TypeRef } from '../schema/model';

/** Mutated bodies for fuzzing: objects of every kind, and what damage makes of their bytes. Repeatable by their seed. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to `limit` - 1 (mulberry32). */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }
}

const SCALARS: Readonly<Record<ScalarName, unknown>> = {
  string: 'text',
  bool: true,
  int32: 7,
  int64: 70,
  double: 1.5,
  bytes: 'Ynl0ZXM=',
};
const SPECIALS: Readonly<Partial<Record<SpecialType['special'], unknown>>> = {
  Time: '2024-02-03T04:05:06Z',
  MicroTime: '2024-02-03T04:05:06.000007Z',
  Duration: '1m5s',
  Quantity: '100Mi',
  IntOrString: '50%',
  RawExtension: { apiVersion: 'v1', kind: 'Thing', a: [1] },
  FieldsV1: { 'f:a': {} },
  JSON: { a: [1, 'b', null] },
};

function sampleOf(type: TypeRef, random: Random, depth: number): unknown {
  switch (type.kind) {
    case 'scalar':
      return SCALARS[type.scalar];
    case 'special':
      return (
        SPECIALS[type.special] ?? (type.schema === undefined ? true : sampleObject(type.schema, random, depth - 1))
      );
    case 'list':
      return Array.from({ length: random.below(3) }, () => sampleOf(type.items, random, depth));
    case 'map':
      return Object.fromEntries(
        ['a', 'b.c/d'].slice(random.below(3)).map((key) => [key, sampleOf(type.values, random, depth)]),
      );
    case 'struct':
      return sampleObject(type, random, depth - 1);
    case 'any':
      return { any: ['thing'] };
  }
}

/** About as many fields as this of each struct, so that bodies stay small and all fields come by. */
const FIELDS = 4;

/** An object with some of the fields of its type. */
export function sampleObject(type: StructType, random: Random, depth: number): Record<string, unknown> {
  if (depth <= 0) return {};
  const fields = [...type.fields.values()].filter(() => random.below(type.fields.size) < FIELDS);
  return Object.fromEntries(fields.map((field) => [field.name, sampleOf(field.type, random, depth)]));
}

const STRANGE_VALUES: readonly unknown[] = [
  null,
  true,
  -1,
  0.5,
  1e300,
  2 ** 53,
  -(2 ** 63),
  '',
  'x',
  '\u0000',
  '\ud800',
  '99999999999999999999',
  '-1e-999999999',
  '2024-13-45T99:99:99Z',
  '0001-01-01T00:00:00Z',
  '=',
  [],
  [null],
  [[]],
  [{}],
  {},
  { '': null },
  { __proto__x: 1, constructor: { prototype: [] } },
];

/** The object with one or a few values, however deep, replaced by others of any type. */
export function mutateValue(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || random.below(6) === 0) return random.pick(STRANGE_VALUES);
  const keys = Object.keys(value);
  if (keys.length === 0)
    return random.below(2) === 0 ? random.pick(STRANGE_VALUES) : { x: random.pick(STRANGE_VALUES) };
  const key = random.pick(keys);
  const changed = mutateValue((value as Readonly<Record<string, unknown>>)[key], random);
  if (Array.isArray(value)) return value.map((item, index) => (String(index) === key ? changed : (item as unknown)));
  return { ...value, [key]: changed };
}

const TOKENS = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ':',
  ',',
  '\\',
  '\\u00',
  '-',
  '1e9',
  'null',
  '\n',
  '\t',
  '&a ',
  '*a',
  '- ',
  '|',
  '\0',
];

/** The bytes with a few of them changed, cut out, doubled, or with pieces of syntax put between. */
export function mutateBytes(bytes: Buffer, random: Random): Buffer {
  let result = Buffer.from(bytes);
  for (let rounds = 1 + random.below(3); rounds > 0; rounds--) {
    const at = random.below(result.length + 1);
    const length = random.below(Math.min(16, result.length - at) + 1);
    switch (random.below(6)) {
      case 0:
        if (at < result.length) result[at] = random.below(256);
        break;
      case 1:
        result = Buffer.concat([result.subarray(0, at), result.subarray(at + length)]);
        break;
      case 2:
        result = Buffer.concat([result.subarray(0, at + length), result.subarray(at)]);
        break;
      case 3:
        result = Buffer.concat([result.subarray(0, at), Buffer.from(random.pick(TOKENS)), result.subarray(at)]);
        break;
      case 4:
        if (at < result.length) result[at] = (result[at] ?? 0) ^ (1 << random.below(8));
        break;
      default:
        if (random.below(8) === 0) result = result.subarray(0, at);
    }
  }
  return result;
}
