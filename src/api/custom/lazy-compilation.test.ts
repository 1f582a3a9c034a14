import type { JsonObject, JsonValue, KubeObject } from '../object';
import { atOnce } from '../parts';
import { loadBuiltinSchema } from '../schema/builtin-schema';
import type { StructType, TypeRef } from '../schema/model';
import { counted, mostReads } from '../steps/counted.fixture';
import type { JsonSchema } from './json-schema';
import { compileRules } from './rules';
import { compileShape, DefaultsRoom } from './shape';
import { customStruct } from './struct-type';

/** Of a large schema, what objects do not have costs nothing: the first object of a kind may be small, and wait for nobody. */

const PARTS = 100;
const MEMBERS = 100;
/** Each part once, and what is in one of them; all of it is some ten times as much. */
const FEW = 20 * (PARTS + MEMBERS);

const members = (make: (index: number) => JsonSchema, count: number): Record<string, JsonSchema> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, make(index)]));
const schema = (rules: JsonSchema = {}): JsonSchema => ({
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: members(
        () => ({ type: 'object', properties: members(() => ({ type: 'string' }), MEMBERS), ...rules }),
        PARTS,
      ),
    },
  },
});
const value: JsonValue = { spec: { p7: { p1: 'a' } } };

function readsOf(work: () => void): number {
  // eslint-disable-next-line require-yield
  const steps = function* (): Generator<void, void, void> {
    work();
  };
  return mostReads(steps());
}

it('pruning and defaults', () => {
  const large = counted(schema());
  const reads = readsOf(() => {
    const shape = compileShape(large);
    const context = { unknown: undefined, path: [], room: new DefaultsRoom(true) };
    expect(shape?.(value, context)).toBe(value);
  });
  expect(reads).toBeGreaterThan(0);
  expect(reads).toBeLessThan(FEW);
});

it('the type that server-side apply reads', () => {
  const objectMeta = loadBuiltinSchema().message('k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta') as StructType;
  const large = counted(schema());
  const field = (type: TypeRef | undefined, name: string): TypeRef | undefined =>
    type?.kind === 'struct' ? type.fields.get(name)?.type : undefined;
  const reads = readsOf(() => {
    const decode = (object: unknown) => ({ object: object as KubeObject, unknownFields: [] });
    const struct = customStruct(large, { group: 'e.io', version: 'v1', kind: 'A', objectMeta, decode });
    expect(field(field(field(struct, 'spec'), 'p7'), 'p1')).toMatchObject({ kind: 'scalar' });
  });
  expect(reads).toBeGreaterThan(0);
  expect(reads).toBeLessThan(FEW);
});

it('rules', () => {
  let compiled = 0;
  const rule = {
    get rule() {
      compiled += 1;
      return 'self.p1 != "b"';
    },
  };
  const check = compileRules(schema({ 'x-kubernetes-validations': [rule] }))!;
  expect(atOnce(check.check(value, undefined))).toEqual([]);
  const first = compiled;
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThan(PARTS / 10);
  expect(atOnce(check.check(value, undefined))).toEqual([]);
  const other: JsonObject = { spec: { p8: { p1: 'b' } } };
  expect(atOnce(check.check(other, undefined))).toHaveLength(1);
  expect(compiled).toBeGreaterThan(first);
});
