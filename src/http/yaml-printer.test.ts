import fc from 'fast-check';
import { parse } from 'yaml';
import { printYaml } from './yaml-printer';

describe('printYaml', () => {
  it('sorts keys, leaves lists where they are and quotes what would not stay a text', () => {
    const object = {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      data: { z: '1', a: 'yes', t: 'a\nb\n', q: 'what: this "is"' },
      metadata: { name: 'g', creationTimestamp: '2020-01-01T00:00:00Z', finalizers: ['a', 'b'] },
      empty: '',
      none: null,
    };
    expect(printYaml(object)).toBe(
      [
        'apiVersion: v1',
        'data:',
        '  a: "yes"',
        `  q: 'what: this "is"'`,
        '  t: |',
        '    a',
        '    b',
        '  z: "1"',
        'empty: ""',
        'kind: ConfigMap',
        'metadata:',
        '  creationTimestamp: "2020-01-01T00:00:00Z"',
        '  finalizers:',
        '  - a',
        '  - b',
        '  name: g',
        'none: null',
        '',
      ].join('\n'),
    );
  });

  it('prints what reads back as the same', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string()))), (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as unknown;
        expect(parse(printYaml(plain), { version: '1.1' })).toEqual(plain);
      }),
    );
  });
});
