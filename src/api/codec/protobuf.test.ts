import fc from 'fast-check';
import { StatusError } from '../errors/status-error';
import { loadBuiltinSchema } from '../schema/builtin-schema';
import type { StructType } from '../schema/model';
import { decodeMessage } from './protobuf-decode';
import { encodeMessage } from './protobuf-encode';
import { decodeEnvelope, encodeEnvelope, encodeWatchFrame } from './protobuf-envelope';

const schema = loadBuiltinSchema();

function message(name: string): StructType {
  const type = schema.message(name);
  if (type === undefined) throw new Error(`the schema has no ${name}`);
  return type;
}
const servicePort = message('k8s.io.api.core.v1.ServicePort');
const resources = message('k8s.io.api.core.v1.ResourceRequirements');
const leaseSpec = message('k8s.io.api.coordination.v1.LeaseSpec');
const volume = message('k8s.io.api.core.v1.Volume');
const subject = message('k8s.io.api.authorization.v1.SubjectAccessReviewSpec');
const props = message('k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps');
const watchEvent = message('k8s.io.apimachinery.pkg.apis.meta.v1.WatchEvent');

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function problemOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof StatusError && error.status.code === 400) return error.message;
    throw error;
  }
  return 'not refused';
}

it('gives an entry of a map of bytes that has none empty ones', () => {
  const secret = message('k8s.io.api.core.v1.Secret');
  expect(decodeMessage(secret, Buffer.from('12030a016b', 'hex'))).toMatchObject({ data: { k: '' } });
});

describe('messages, byte for byte', () => {
  test.each([
    // Fields that are no pointers are always there; a text for IntOrString keeps its number.
    [servicePort, { name: 'http', port: 80, targetPort: 'web' }, '0a046874747012001850220908011000' + '1a037765622800'],
    // A negative int32 takes ten bytes.
    [servicePort, { port: 0, targetPort: 0, nodePort: -1 }, '0a00120018002206080010001a0028' + 'ffffffffffffffffff01'],
    // Maps are sorted by key.
    [
      resources,
      { limits: { cpu: '500m', memory: '1Gi' } },
      '0a0d0a0363707512060a043530306d' + '0a0f0a066d656d6f727912050a03314769',
    ],
    // Pointers are there when they are set, to zero too.
    [
      leaseSpec,
      { holderIdentity: 'h', leaseDurationSeconds: 0, acquireTime: '1970-01-01T00:00:01.000002Z' },
      '0a0168' + '1000' + '1a05080110d00f',
    ],
    // Inlined in JSON, a message of its own on the wire.
    [volume, { name: 'v', emptyDir: {} }, '0a0176' + '120412020a00'],
  ])('%#', (type, object, bytes) => {
    expect(hex(encodeMessage(type, object))).toBe(bytes);
    expect(decodeMessage(type, Buffer.from(bytes, 'hex'))).toEqual(object);
  });

  test('a list that the wire wraps keeps the difference between empty and absent', () => {
    const object = { user: 'u', extra: { a: ['x', 'y'], b: [] } };
    const bytes = encodeMessage(subject, object);
    expect(hex(bytes)).toContain('0a0161' + '1206' + '0a01780a0179');
    expect(decodeMessage(subject, bytes)).toEqual(object);
  });

  test('a schema of schemas takes each of its forms', () => {
    const object = {
      default: { a: [1] },
      items: [{ type: 'string' }],
      additionalProperties: { type: 'integer' },
      dependencies: { a: ['b'], c: { type: 'object' } },
      additionalItems: false,
    };
    expect(decodeMessage(props, encodeMessage(props, object))).toEqual(object);
  });
});

describe('reading', () => {
  test('fields that the type does not have are skipped', () => {
    expect(decodeMessage(leaseSpec, Buffer.from('0a0168' + 'a20602abcd' + 'a80601' + '2801', 'hex'))).toEqual({
      holderIdentity: 'h',
      leaseTransitions: 1,
    });
  });

  test('an int64 beyond what a number holds keeps its digits', () => {
    const meta = message('k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta');
    const object = decodeMessage(meta, Buffer.from('38' + 'ffffffffffffffff7f', 'hex')) as { generation: bigint };
    expect(object.generation).toBe(2n ** 63n - 1n);
    expect(Buffer.from(encodeMessage(meta, object)).toString('hex')).toContain('ffffffffffffffff7f');
  });

  test.each([
    ['0a', 'unexpected EOF'],
    ['0a05', 'unexpected EOF'],
    ['0affffffff0f', 'invalid length encoding'],
    ['0800', 'wrong wireType = 0'],
    ['0001', 'illegal tag 0'],
    ['1a0308', 'unexpected EOF'],
    ['1a03080110', 'unexpected EOF'],
  ])('%s is refused', (bytes, problem) => {
    expect(problemOf(() => decodeMessage(leaseSpec, Buffer.from(bytes, 'hex')))).toBe(
      `LeaseSpec in version "v1" cannot be handled as a LeaseSpec: ${problem}`,
    );
  });

  test('a bomb of nesting is refused', () => {
    // JSONSchemaProps.not (28) within itself, each level a tag of two bytes and a length.
    let bytes: Buffer = Buffer.alloc(0);
    for (let depth = 0; depth < 3_000; depth += 1) {
      const length: number[] = [];
      for (let rest = bytes.length; ; rest >>>= 7) {
        length.push(rest > 127 ? (rest & 127) | 128 : rest);
        if (rest <= 127) break;
      }
      bytes = Buffer.concat([Buffer.from([0xe2, 0x01, ...length]), bytes]);
    }
    expect(problemOf(() => decodeMessage(props, bytes))).toMatch(/exceeded max depth$/);
  });

  test('random bytes are read or refused with a 400', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          decodeMessage(volume, bytes);
          decodeEnvelope(Buffer.concat([Buffer.from('6b387300', 'hex'), bytes]));
        } catch (error) {
          expect(error).toBeInstanceOf(StatusError);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('envelopes', () => {
  const envelope = encodeEnvelope({ apiVersion: 'v1', kind: 'X', raw: Buffer.from([8, 1]) });

  test('hold the type, the message and two empty texts', () => {
    expect(hex(envelope)).toBe('6b387300' + '0a070a02763112' + '0158' + '12020801' + '1a002200');
    expect(decodeEnvelope(envelope)).toEqual({
      apiVersion: 'v1',
      kind: 'X',
      raw: Buffer.from([8, 1]),
      contentEncoding: '',
      contentType: '',
    });
  });

  test('are recognised by their first bytes', () => {
    expect(problemOf(() => decodeEnvelope(Buffer.from('garbage')))).toBe(
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    );
    expect(problemOf(() => decodeEnvelope(envelope.subarray(0, 8)))).toBe('unexpected EOF');
  });

  test('a frame of a watch carries its length and an enveloped object', () => {
    const frame = Buffer.from(encodeWatchFrame('ADDED', envelope));
    expect(frame.readUInt32BE(0)).toBe(frame.length - 4);
    const event = frame.subarray(4);
    expect(() => decodeMessage(watchEvent, event)).toThrow('no kind "X" is registered for version "v1"');
    const inner = encodeEnvelope({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'LeaseSpec',
      raw: encodeMessage(leaseSpec, { leaseTransitions: 2 }),
    });
    const resolve = (_apiVersion: string, kind: string): StructType | undefined =>
      kind === 'LeaseSpec' ? leaseSpec : undefined;
    expect(decodeMessage(watchEvent, Buffer.from(encodeWatchFrame('ADDED', inner)).subarray(4), { resolve })).toEqual({
      type: 'ADDED',
      object: { kind: 'LeaseSpec', apiVersion: 'coordination.k8s.io/v1', leaseTransitions: 2 },
    });
  });

  test('a raw value may be JSON', () => {
    const bytes = encodeMessage(watchEvent, { type: 'ADDED', object: { a: 1 } });
    expect(decodeMessage(watchEvent, bytes)).toEqual({ type: 'ADDED', object: { a: 1 } });
    expect(problemOf(() => decodeMessage(watchEvent, Buffer.from('0a0141' + '12040a027b7b', 'hex')))).toMatch(
      /looking for beginning of object key string$/,
    );
  });
});
