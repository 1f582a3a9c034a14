import { exactInteger, MAX_INT64, MIN_INT64, parseExact, stringifyExact } from './exact-json';
import fc from 'fast-check';
import { StatusError } from '../errors/status-error';
import type { KubeObject } from '../object';
import { loadBuiltinSchema } from '../schema/builtin-schema';
import type { ScalarName, SpecialType, StructType, TypeRef } from '../schema/model';
import { formatDuration } from '../time/duration';
import { formatMicroTime, formatTime } from '../time/rfc3339';
import { decodeObject } from './json-decode';
import { decodeMessage } from './protobuf-decode';
import { encodeMessage } from './protobuf-encode';
import { parseYaml } from './yaml';
import { printYaml } from './yaml-print';

const schema = loadBuiltinSchema();

const KINDS = [
  ['', 'v1', 'Pod'],
  ['', 'v1', 'Service'],
  ['', 'v1', 'Secret'],
  ['', 'v1', 'Node'],
  ['', 'v1', 'Event'],
  ['apps', 'v1', 'Deployment'],
  ['apps', 'v1', 'StatefulSet'],
  ['apps', 'v1', 'ControllerRevision'],
  ['coordination.k8s.io', 'v1', 'Lease'],
  ['networking.k8s.io', 'v1', 'NetworkPolicy'],
  ['authorization.k8s.io', 'v1', 'SubjectAccessReview'],
  ['admissionregistration.k8s.io', 'v1', 'ValidatingWebhookConfiguration'],
  ['apiextensions.k8s.io', 'v1', 'CustomResourceDefinition'],
  ['node.k8s.io', 'v1alpha1', 'RuntimeClass'],
  ['rbac.authorization.k8s.io', 'v1alpha1', 'ClusterRoleBinding'],
  ['rbac.authorization.k8s.io', 'v1alpha1', 'ClusterRole'],
  ['internal.apiserver.k8s.io', 'v1alpha1', 'StorageVersion'],
] as const;

const SCALARS: Readonly<Record<ScalarName, fc.Arbitrary<unknown>>> = {
  string: fc.string({ maxLength: 8 }),
  bool: fc.boolean(),
  int32: fc.integer(),
  int64: fc.oneof(fc.maxSafeInteger(), fc.bigInt({ min: MIN_INT64, max: MAX_INT64 }).map(exactInteger)),
  double: fc.double({ noNaN: true, noDefaultInfinity: true }),
  bytes: fc.uint8Array({ maxLength: 5 }).map((bytes) => Buffer.from(bytes).toString('base64')),
};
const seconds = fc.integer({ min: -62_135_596_799, max: 253_402_300_799 });

function special({ special: name, schema: nested }: SpecialType, depth: number): fc.Arbitrary<unknown> {
  const object = nested === undefined ? fc.constant({}) : struct(nested, depth);
  switch (name) {
    case 'Time':
      return seconds.map(formatTime);
    case 'MicroTime':
      return fc
        .tuple(seconds, fc.nat(999_999))
        .map(([whole, micros]) => formatMicroTime({ seconds: whole, nanos: micros * 1000 }));
    case 'Duration':
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(formatDuration);
    case 'Quantity':
      return fc
        .tuple(fc.integer(), fc.constantFrom('', 'm', 'Ki', 'Gi', 'M', 'e3'))
        .map(([number, unit]) => `${number}${unit}`);
    case 'IntOrString':
      return fc.oneof(fc.integer({ min: -(2 ** 31) + 1 }), fc.string({ maxLength: 4 }));
    case 'RawExtension':
    case 'FieldsV1':
    case 'JSON':
      return fc.jsonValue({ maxDepth: 2 });
    case 'JSONSchemaPropsOrBool':
      return fc.oneof(fc.boolean(), object);
    case 'JSONSchemaPropsOrArray':
      return fc.oneof(object, fc.array(object, { minLength: 1, maxLength: 2 }));
    case 'JSONSchemaPropsOrStringArray':
      return fc.oneof(object, fc.array(fc.string(), { minLength: 1, maxLength: 2 }));
  }
}

/** `least`: elements of a list or map. */
function value(type: TypeRef, depth: number, least = 0): fc.Arbitrary<unknown> {
  switch (type.kind) {
    case 'scalar':
      return SCALARS[type.scalar];
    case 'special':
      return special(type, depth);
    case 'list':
      return fc.array(value(type.items, depth), { minLength: least, maxLength: 2 });
    case 'map':
      return fc.dictionary(fc.string({ maxLength: 4 }), value(type.values, depth), { minKeys: least, maxKeys: 3 });
    case 'struct':
      return struct(type, depth - 1);
    case 'any':
      return fc.jsonValue();
  }
}

/**
 * Some of the fields. Lists that are always written, or whose absence means something, are not empty, because the wire does not
 * tell empty from null; nested objects have no type of their own on the wire, so none is made.
 */
function struct(type: StructType, depth: number): fc.Arbitrary<Record<string, unknown>> {
  if (depth <= 0) return fc.constant({});
  const fields = [...type.fields.values()].filter(
    ({ name }) => !type.isKind || (name !== 'kind' && name !== 'apiVersion'),
  );
  const chosen = fc.subarray(fields, { maxLength: Math.min(5, fields.length) });
  return chosen.chain((some) =>
    fc.record(
      Object.fromEntries(
        some.map((field) => [field.name, value(field.type, depth, field.always || field.pointer ? 1 : 0)]),
      ),
    ),
  );
}

function decode(type: StructType, input: unknown): KubeObject {
  return decodeObject(type, input, { applyDefaults: false, collectUnknown: false }).object;
}

describe.each(KINDS)('%s/%s %s', (group, version, kind) => {
  const type = schema.kind(group, version, kind);
  if (type === undefined) throw new Error(`the schema has no ${kind}`);
  const object = struct(type, 5);

  test('decoding what was decoded changes nothing, and never the input', () => {
    fc.assert(
      fc.property(object, (input) => {
        const before = stringifyExact(input);
        const once = decode(type, input);
        expect(stringifyExact(input)).toBe(before);
        expect(stringifyExact(decode(type, parseExact(stringifyExact(once))))).toBe(stringifyExact(once));
      }),
      { numRuns: 40 },
    );
  });

  test('Protobuf keeps what canonical JSON says', () => {
    fc.assert(
      fc.property(object, (input) => {
        const canonical = decode(type, input);
        expect(stringifyExact(decodeMessage(type, encodeMessage(type, canonical)))).toBe(stringifyExact(canonical));
      }),
      { numRuns: 40 },
    );
  });

  test('damaged Protobuf is read or refused with a 400', () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(object, damage, fc.nat(), (input, changes, cut) => {
        const bytes = Buffer.from(encodeMessage(type, decode(type, input)));
        for (const [place, byte] of changes) if (bytes.length > 0) bytes[place % bytes.length] = byte;
        try {
          decodeMessage(type, cut % 3 === 0 ? bytes.subarray(0, cut % (bytes.length + 1)) : bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(StatusError);
          expect((error as StatusError).status.code).toBe(400);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('YAML keeps what canonical JSON says', () => {
    fc.assert(
      fc.property(object, (input) => {
        const canonical = parseExact(stringifyExact(decode(type, input)));
        expect(parseYaml(printYaml(canonical))).toEqual(canonical);
      }),
      { numRuns: 20 },
    );
  });
});

/** Also those of groups of which there are no recorded messages. Tables are never sent as Protobuf. */
const ALL = [...schema.messages()]
  .filter(({ isKind, name }) => isKind && !name.endsWith('.Table'))
  .map((type) => [type.name, type] as const);

test.each(ALL)('Protobuf keeps what a %s says', (_name, type) => {
  fc.assert(
    fc.property(struct(type, 4), (input) => {
      const canonical = decode(type, input);
      const message = encodeMessage(type, canonical);
      const read = decodeMessage(type, message);
      expect(stringifyExact(read)).toBe(stringifyExact(canonical));
      expect(Buffer.from(encodeMessage(type, read)).equals(Buffer.from(message))).toBe(true);
    }),
    { numRuns: 5 },
  );
});
