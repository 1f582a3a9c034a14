import { configMap } from '../../../api/kinds/core/config-map';
import { customTable } from '../../../api/custom/printer-columns';
import type { KindDefinition } from '../../../api/kinds/kind-definition';
import { podDisruptionBudget } from '../../../api/kinds/policy/pod-disruption-budget';
import type { KubeObject } from '../../../api/object';
import type { Steps } from '../../../api/parts';
import { loadBuiltinSchema } from '../../../api/schema/builtin-schema';
import { take } from '../../../api/steps/both-forms.fixture';
import { localEntry } from '../../../registry/local-entry';
import type { ServedResource } from '../../../resources/served-resource';
import type { Revision } from '../../../storage/store';
import type { Transform } from '../../request/negotiate';
import { laterPieces, listPieces } from './list-parts';
import { ListRepresenter, type ListRepresentation } from './list-representation';

const COUNT = 5_000;
const many = Object.fromEntries(Array.from({ length: COUNT }, (_, index) => [`key-${index}`, 'a value\nof lines']));
const schema = loadBuiltinSchema();
const TABLE: Transform = { kind: 'Table', apiVersion: 'meta.k8s.io/v1' };
const PARTIAL: Transform = { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' };

function servedAs(definition: KindDefinition, version: string): ServedResource {
  const found = definition.versions.find((one) => one.version === version)!;
  const type = schema.kind(found.group, version, definition.kind)!;
  return { definition, version: found, type, listKind: `${definition.kind}List`, custom: false } as ServedResource;
}

const PLAIN_JSON: ListRepresentation = {
  format: 'json',
  pretty: false,
  transform: undefined,
  includeObject: 'Metadata',
  now: 0,
};

const configMaps = servedAs(configMap, 'v1');
const budgets = servedAs(podDisruptionBudget, 'v1');

function entriesOf(large: Omit<KubeObject, 'metadata'>) {
  const objects: readonly KubeObject[] = [
    { metadata: { name: 'small' } },
    { metadata: { name: 'large', annotations: many }, ...large },
    { metadata: { name: 'last' } },
  ];
  return objects.map((object, index) => localEntry(`/${index}`, index as Revision, object));
}

describe('a large item of a list of which something has to be made', () => {
  it.each<[string, ServedResource, Partial<ListRepresentation>]>([
    ['indented JSON', configMaps, { pretty: true }],
    ['tables', configMaps, { transform: TABLE }],
    ['tables with objects', configMaps, { transform: TABLE, includeObject: 'Object' }],
    ['indented tables', configMaps, { transform: TABLE, includeObject: 'Object', pretty: true }],
    ['indented metadata', configMaps, { transform: PARTIAL, pretty: true }],
    ['Protobuf', configMaps, { format: 'protobuf' }],
    ['Protobuf of another version', budgets, { format: 'protobuf' }],
    ['another version', budgets, {}],
    ['another version, indented', budgets, { pretty: true }],
    ['tables of another version', budgets, { transform: TABLE, includeObject: 'Object' }],
  ])('is made a part at a time: %s', async (_, served, representation) => {
    let steps = 0;
    const takeSteps = async <Result>(work: Steps<Result>): Promise<Result> => {
      const { result, pauses } = take(work);
      steps += pauses;
      return result;
    };
    const printYaml = jest.fn();
    const work = { printYaml, takeSteps };
    const large = served === budgets ? { spec: { selector: {} } } : { data: many };
    const parts = new ListRepresenter(served, { ...PLAIN_JSON, ...representation }, schema, work).parts(
      entriesOf(large),
      {},
    );
    const pieces: Uint8Array[] = [];
    for (const some of laterPieces(parts, parts.later!)) pieces.push(...(await some));
    const atOnce = new ListRepresenter(served, { ...PLAIN_JSON, ...representation }, schema, work);
    expect(Buffer.concat(pieces).toString()).toBe(
      Buffer.concat([...listPieces(atOnce.parts(entriesOf(large), {}))].flat()).toString(),
    );
    expect(steps).toBeGreaterThan(COUNT / 5);
  });

  it('is also one of some kilobytes where a table has many columns that look through it', async () => {
    const data = Object.fromEntries(Object.entries(many).slice(0, 300));
    const objects: readonly KubeObject[] = [{ metadata: { name: 'small' } }, { metadata: { name: 'more' }, data }];
    const entries = objects.map((object, index) => localEntry(`/${index}`, index as Revision, object));
    const takeSteps = async <Result>(steps: Steps<Result>): Promise<Result> => take(steps).result;
    const partsOf = (count: number) => {
      const names = Array.from({ length: count }, (_, index) => `c${index}`);
      const table = customTable(names.map((name) => ({ name, type: 'string', jsonPath: '.data' })));
      const work = { printYaml: jest.fn(), takeSteps };
      return new ListRepresenter({ ...configMaps, table }, { ...PLAIN_JSON, transform: TABLE }, schema, work).parts(
        entries,
        {},
      );
    };
    expect(partsOf(2).later).toBeUndefined();
    const parts = partsOf(20);
    expect(entries.map((entry) => parts.later!(entry) !== undefined)).toEqual([false, true]);
    const pieces: Uint8Array[] = [];
    for (const some of laterPieces(parts, parts.later!)) pieces.push(...(await some));
    expect(Buffer.concat(pieces).toString()).toBe(Buffer.concat([...listPieces(parts)].flat()).toString());
  });

  it('asks for nothing where its bytes are there', () => {
    const work = { printYaml: jest.fn(), takeSteps: jest.fn() };
    const parts = new ListRepresenter(configMaps, PLAIN_JSON, schema, work).parts(entriesOf({ data: many }), {});
    expect(parts.later).toBeUndefined();
  });
});
