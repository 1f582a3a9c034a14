import { codeOf } from '../errors/code-of.fixture';
import { loadBuiltinSchema } from '../schema/builtin-schema';
import { decodeObject } from './json-decode';
import { decodeMessage } from './protobuf-decode';

const pod = loadBuiltinSchema().kind('', 'v1', 'Pod');
const options = { applyDefaults: true, collectUnknown: true };

describe('bounds of decoding', () => {
  it('refuses a list of empty structs whose defaults are more than any object', () => {
    if (pod === undefined) throw new Error('no pods');
    const body = (count: number) => ({ spec: { containers: new Array<object>(count).fill({}) } });
    expect(codeOf(() => decodeObject(pod, body(1_000), options))).toBeUndefined();
    expect(codeOf(() => decodeObject(pod, body(1_000_000), options))).toBe(413);
  });

  it('refuses them in Protobuf, where each has two bytes', () => {
    if (pod === undefined) throw new Error('no pods');
    const containers = Buffer.alloc(2_000_000);
    for (let at = 0; at < containers.length; at += 2) containers[at] = (2 << 3) | 2;
    const length = Buffer.from([0x80 | (2_000_000 & 0x7f), 0x80 | ((2_000_000 >> 7) & 0x7f), 2_000_000 >> 14]);
    const spec = Buffer.concat([Buffer.from([(2 << 3) | 2]), length, containers]);
    expect(codeOf(() => decodeMessage(pod, spec))).toBe(413);
  });

  it('tells as many unknown fields as have room', () => {
    if (pod === undefined) throw new Error('no pods');
    const long = 'k'.repeat(100_000);
    const volumes = Array.from({ length: 50 }, () => ({ [long]: 1 }));
    const { unknownFields } = decodeObject(pod, { spec: { volumes } }, options);
    expect(unknownFields.length).toBe(2);
  });
});
