import * as fc from 'fast-check';
import { CATALOGUE } from '../api/kinds/catalogue';
import type { KindDefinition } from '../api/kinds/kind-definition';
import type { KubeObject } from '../api/object';
import type { Revision } from '../storage/store';
import { asRead, storageEncoder } from './stored-object';

const revision = 7 as Revision;
const configMap = CATALOGUE.find(({ kind }) => kind === 'ConfigMap') as KindDefinition;
const inOtherVersion = CATALOGUE.find(({ written }) => written !== undefined) as KindDefinition;

function parsed(definition: KindDefinition, object: KubeObject): unknown {
  const { metadata, ...rest } = JSON.parse(String(storageEncoder(definition)(object).value)) as KubeObject;
  return { ...rest, metadata: { ...metadata, resourceVersion: String(revision) } };
}

const members = { key: fc.constantFrom('a', 'b', '__proto__', 'toJSON'), maxDepth: 3, maxKeys: 3 };
const metadata = { name: 'x', resourceVersion: '3', selfLink: '/x' };

describe('asRead', () => {
  it('is what the stored bytes say, for everything that is JSON', () => {
    fc.assert(
      fc.property(
        fc.object({ ...members, values: [fc.string(), fc.integer(), fc.boolean(), fc.constant(null)] }),
        (data) => {
          const object = { kind: 'ConfigMap', apiVersion: 'v0', metadata, data } as unknown as KubeObject;
          const stored = storageEncoder(configMap)(object);
          const read = asRead(configMap, stored.object, revision);
          expect(read).toEqual(parsed(configMap, object));
          expect(storageEncoder(configMap)(read as KubeObject).value).toEqual(stored.value);
        },
      ),
    );
  });

  it('is not known where writing and reading would change something', () => {
    const values = [fc.constant(undefined), fc.constant(NaN), fc.date(), fc.bigInt(), fc.constant(() => 1)];
    fc.assert(
      fc.property(fc.oneof(...values), fc.constantFrom('list', 'map'), (value, shape) => {
        const data = { a: shape === 'list' ? [1, value] : { b: value } };
        const object = { metadata, data } as unknown as KubeObject;
        const stored = { ...storageEncoder(configMap)({ metadata }).object, ...object };
        expect(asRead(configMap, stored, revision)).toBeUndefined();
      }),
    );
    expect(asRead(inOtherVersion, { metadata }, revision)).toBeUndefined();
  });
});
