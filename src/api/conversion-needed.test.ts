import { ConversionsInOrder, withConversions } from './conversion-needed';
import type { KubeObject } from './object';

function asking() {
  const asked: string[] = [];
  const remote = {
    convert: (object: KubeObject, apiVersion: string): Promise<KubeObject> => {
      asked.push(`${object.metadata.name ?? ''} in ${apiVersion}`);
      return Promise.resolve({ ...object, apiVersion });
    },
  };
  return { asked, remote };
}

/** What may not be looked into: a large object would take as long as all else. */
function opaque(name: string): KubeObject {
  const refuse = (): never => {
    throw new Error('looked into');
  };
  return { metadata: { name }, spec: new Proxy({}, { ownKeys: refuse, get: refuse }) };
}

it('a function that makes its objects anew in each run is given each of them once, and none is looked into', async () => {
  const { asked, remote } = asking();
  const conversions = new ConversionsInOrder();
  let runs = 0;
  const given = await withConversions(() => {
    runs += 1;
    conversions.begin();
    return ['a', 'b', 'a'].map((name) => conversions.known(remote, opaque(name), 'v2').metadata.name);
  });
  expect({ given, asked, runs }).toEqual({
    given: ['a', 'b', 'a'],
    asked: ['a in v2', 'b in v2', 'a in v2'],
    runs: 4,
  });
});

it('what was asked for in another version is out of date, with all that followed', async () => {
  const { asked, remote } = asking();
  const conversions = new ConversionsInOrder();
  const versions = ['v2', 'v3'];
  await withConversions(() => {
    conversions.begin();
    return versions.map((version) => conversions.known(remote, opaque('a'), version));
  });
  versions.shift();
  await withConversions(() => {
    conversions.begin();
    return versions.map((version) => conversions.known(remote, opaque('a'), version));
  });
  expect(asked).toEqual(['a in v2', 'a in v3', 'a in v3']);
});
