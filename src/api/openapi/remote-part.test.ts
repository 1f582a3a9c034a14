import { CATALOGUE } from '../kinds/catalogue';
import type { JsonObject } from '../object';
import { atOnce } from '../parts';
import { loadBuiltinSchema } from '../schema/builtin-schema';
import { remotePartOf, type RemotePart } from './remote-part';
import { printOpenApiV2 } from './v2-document';
import { openApiV2Message, printOpenApiV2Protobuf } from './v2-protobuf';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const BOAT = 'io.example.Boat';
const GROUP_VERSION = { group: 'ships.example.io', version: 'v1' };
const PATH = '/apis/ships.example.io/v1/boats';

const ref = (name: string): JsonObject => ({ $ref: `#/definitions/${name}` });
const item = (schema: JsonObject): JsonObject => ({
  parameters: [{ $ref: '#/parameters/pretty' }],
  get: { operationId: 'listBoats', parameters: [], responses: { '200': { description: 'OK', schema } } },
});

function documentOf(boat: JsonObject, more: JsonObject = {}): JsonObject {
  return {
    swagger: '2.0',
    parameters: { pretty: { name: 'pretty', in: 'query', type: 'string' } },
    paths: {
      [PATH]: item(ref(BOAT)),
      '/apis/ships.example.io/v2/boats': item(ref('io.example.Other')),
      '/version/': {},
    },
    definitions: { [BOAT]: boat, [META]: { description: 'theirs' }, 'io.example.Other': {}, unused: {} },
    ...more,
  };
}

const boat = { type: 'object', description: 'A boat.', properties: { metadata: ref(META) } };

function partOf(document: JsonObject): RemotePart {
  const part = atOnce(remotePartOf(document, GROUP_VERSION));
  if (part === undefined) throw new Error('there is nothing in it');
  return part;
}

const source = {
  schema: loadBuiltinSchema(),
  definitions: CATALOGUE.filter(({ kind }) => kind === 'Lease'),
  info: { title: 'Kubernetes', version: 'v1' },
};

interface Document {
  readonly paths: Readonly<Record<string, JsonObject>>;
  readonly definitions: Readonly<Record<string, JsonObject>>;
}

function merged(...remote: readonly RemotePart[]): Document {
  return JSON.parse(Buffer.concat(atOnce(printOpenApiV2({ ...source, remote }))).toString()) as Document;
}

describe('what another server has of a group version', () => {
  it('are its paths, with their parameters, and all that they refer to', () => {
    const { paths, definitions } = partOf(documentOf(boat));
    expect([...paths.keys()]).toEqual([PATH]);
    expect(paths.get(PATH)?.['parameters']).toEqual([{ name: 'pretty', in: 'query', type: 'string' }]);
    expect([...definitions.keys()].sort()).toEqual([BOAT, META].sort());
  });

  it.each<[string, unknown]>([
    ['a list', []],
    ['a document of another kind', { openapi: '3.0.0' }],
    ['one that refers to what it does not have', documentOf({ properties: { a: ref('missing') } })],
    ['one whose parameters are not there', documentOf(boat, { parameters: {} })],
  ])('is nothing in %s', (_, document) => {
    expect(atOnce(remotePartOf(document, GROUP_VERSION))).toBeUndefined();
  });
});

describe('a document with parts of other servers', () => {
  it('has their paths and definitions among its own, and says of common types what it says anyway', () => {
    const own = merged();
    const { paths, definitions } = merged(partOf(documentOf(boat)));
    expect(Object.keys(paths)).toEqual([...Object.keys(own.paths), PATH].sort());
    expect(paths[PATH]).toMatchObject({ get: { responses: { '200': { schema: ref(BOAT) } } } });
    expect(definitions[BOAT]).toEqual(boat);
    expect(definitions[META]).toEqual(own.definitions[META]);
  });

  it('gives another name to what has the name of something else, and one to what two have alike', () => {
    const other = { group: 'ships.example.io', version: 'v2' };
    const differs = { ...boat, description: 'Another boat.' };
    const second = atOnce(
      remotePartOf({ ...documentOf(differs), paths: { '/apis/ships.example.io/v2/boats': item(ref(BOAT)) } }, other),
    )!;
    const { paths, definitions } = merged(partOf(documentOf(boat)), second, second);
    expect(definitions[BOAT]).toEqual(boat);
    expect(definitions[`${BOAT}_v2`]).toEqual(differs);
    expect(definitions[`${BOAT}_v3`]).toBeUndefined();
    expect(paths['/apis/ships.example.io/v2/boats']).toMatchObject({
      get: { responses: { '200': { schema: ref(`${BOAT}_v2`) } } },
    });
  });

  it('has them in Protobuf too', () => {
    const steps = printOpenApiV2Protobuf({ ...source, remote: [partOf(documentOf(boat))] });
    const message = openApiV2Message().decode(Buffer.concat(atOnce(steps))) as unknown as {
      readonly paths: { readonly path: readonly { readonly name: string }[] };
    };
    expect(message.paths.path.map(({ name }) => name)).toContain(PATH);
  });

  it('leaves out what cannot be printed', () => {
    const odd = partOf(documentOf({ ...boat, description: { an: 'object' }, maxLength: 'long', enum: 'x' }));
    const steps = printOpenApiV2Protobuf({ ...source, remote: [odd, partOf(documentOf(boat))] });
    const message = openApiV2Message().decode(Buffer.concat(atOnce(steps))) as unknown as {
      readonly paths: { readonly path: readonly { readonly name: string }[] };
    };
    expect(message.paths.path.filter(({ name }) => name === PATH)).toHaveLength(1);
  });
});
