import { FaultyStore } from '../../test/support/faulty-store';
import {
  context,
  dryRun,
  patching,
  putting,
  refusal,
  RegistryFixture,
  scope,
  thing,
  thingKind,
} from '../../test/support/registry-fixture';
import type { KubeObject } from '../api/object';
import { StoreFailure } from '../storage/store';
import type { ResourceRegistry } from './resource-registry';

let fixture: RegistryFixture;
let things: ResourceRegistry;

beforeAll(async () => {
  fixture = await RegistryFixture.open();
  things = fixture.registry(thingKind());
});
afterAll(() => fixture.close());

const meta = (metadata: KubeObject['metadata'], fields = {}): KubeObject => ({ ...thing(''), metadata, ...fields });
const labelled = (label: string) =>
  patching((current) => ({ ...current, metadata: { ...current.metadata, labels: { l: label } } }));

describe('an update', () => {
  it('of nothing but the times of managed fields is not written', async () => {
    const owned = (time: string, manager = 'm') =>
      patching((current) => ({
        ...current,
        metadata: { ...current.metadata, managedFields: [{ manager, operation: 'Update', time }] },
      }));
    await things.create(scope, thing('times'), {}, context);
    const first = await things.update(scope, 'times', owned('2020-01-01T00:00:00Z'), context);
    const second = await things.update(scope, 'times', owned('2020-01-02T00:00:00Z'), context);
    expect(second.entry.revision).toBe(first.entry.revision);
    const third = await things.update(scope, 'times', owned('2020-01-02T00:00:00Z', 'other'), context);
    expect(third.entry.revision).toBeGreaterThan(first.entry.revision);
  });

  it('with the current version is written, with an old one refused', async () => {
    const { entry } = await things.create(scope, thing('v'), {}, context);
    const resourceVersion = String(entry.revision);
    const second = await things.update(scope, 'v', putting(meta({ name: 'v', resourceVersion }, { a: 2 })), context);
    expect(second.entry.revision).toBeGreaterThan(entry.revision);
    expect(second.entry.object).toMatchObject({ a: 2, metadata: { namespace: 'n', uid: entry.object.metadata.uid } });
    expect(
      await refusal(things.update(scope, 'v', putting(meta({ name: 'v', resourceVersion })), context)),
    ).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on things "v": the object has been modified; please apply your changes to the latest version and try again',
      details: { name: 'v', kind: 'things' },
    });
  });

  it('whose answer from the store was lost is not made again', async () => {
    const store = new FaultyStore(fixture.store);
    const counters = fixture.registry(thingKind({ resource: 'counters' }), { store });
    const increment = patching((current) => ({ ...current, count: Number(current['count']) + 1 }));
    await counters.create(scope, thing('c', { count: 0 }), {}, context);
    store.lostResponses.push(new StoreFailure('the answer was lost', 'lost'));
    await expect(counters.update(scope, 'c', increment, context)).rejects.toThrow('the answer was lost');
    expect((await counters.update(scope, 'c', increment, context)).entry.object).toMatchObject({ count: 2 });
  });

  it('without a version overwrites, unless the kind forbids that', async () => {
    await things.create(scope, thing('u'), {}, context);
    expect((await things.update(scope, 'u', putting(thing('u', { a: 1 })), context)).entry.object.a).toBe(1);
    expect((await things.update(scope, 'u', putting(meta({ name: 'u', resourceVersion: '0' })), context)).created).toBe(
      false,
    );
    const strict = fixture.registry(thingKind({ group: 'g.io', resource: 'stricts', allowUnconditionalUpdate: false }));
    await strict.create(scope, thing('u'), {}, context);
    expect(await refusal(strict.update(scope, 'u', putting(thing('u')), context))).toMatchObject({
      code: 422,
      message:
        'stricts.g.io "u" is invalid: metadata.resourceVersion: Invalid value: 0x0: must be specified for an update',
      details: { name: 'u', group: 'g.io', kind: 'stricts' },
    });
  });

  it('of another uid is refused', async () => {
    await things.create(scope, thing('uid'), {}, context);
    const status = await refusal(things.update(scope, 'uid', putting(meta({ name: 'uid', uid: 'x' })), context));
    expect(status).toMatchObject({ code: 409, details: { name: 'uid', kind: 'things' } });
    expect(status.message).toContain(
      'StorageError: invalid object, Code: 4, Key: /registry/things/n/uid, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: x, UID in object meta: ',
    );
  });

  it('of what does not exist is refused, or creates where the kind or the caller wants that', async () => {
    expect(await refusal(things.update(scope, 'none', putting(thing('none')), context))).toMatchObject({
      code: 404,
      message: 'things "none" not found',
    });
    const leases = fixture.registry(thingKind({ resource: 'upserted', allowCreateOnUpdate: true }));
    const never = { ...putting(thing('new')), createIfMissing: false };
    expect(await refusal(leases.update(scope, 'new', never, context))).toMatchObject({ code: 404 });
    expect((await leases.update(scope, 'new', putting(thing('new')), context)).created).toBe(true);
    expect((await leases.update(scope, 'new', putting(thing('new', { a: 1 })), context)).created).toBe(false);
    const applied = await things.update(
      scope,
      'applied',
      { ...putting(thing('applied')), createIfMissing: true },
      context,
    );
    expect(applied.created).toBe(true);
    expect(applied.entry.object.metadata.uid).toBeDefined();
  });

  it.each([
    ['no name', {}, 422, 'metadata.name: Required value: name or generateName is required'],
    ['another name', { name: 'b' }, 422, 'metadata.name: Invalid value: "b": field is immutable'],
    [
      'another namespace',
      { name: 'id', namespace: 'o' },
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    [
      'a version that is no number',
      { name: 'id', resourceVersion: 'abc' },
      400,
      'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    ],
  ])('to an object with %s is refused', async (_what, metadata, code, message) => {
    await things.create(scope, thing('id'), {}, context).catch(() => undefined);
    const hooks = patching(() => meta(metadata));
    const refused = await refusal(things.update(scope, 'id', hooks, context));
    expect(refused).toMatchObject({ code, message: expect.stringContaining(message) as string });
  });

  it('that changes nothing writes nothing', async () => {
    const { entry } = await things.create(scope, thing('same', { data: { a: 1, b: 2 } }), {}, context);
    const reordered = patching((current) => ({ ...current, data: { b: 2, a: 1 } }));
    expect((await things.update(scope, 'same', reordered, context)).entry.revision).toBe(entry.revision);
  });

  it('puts back what a client may not set, and refuses what it may not change', async () => {
    const { entry } = await things.create(scope, thing('meta'), {}, context);
    const { uid, creationTimestamp } = entry.object.metadata;
    const ignored = meta({
      name: 'meta',
      creationTimestamp: '2001-02-03T04:05:06Z',
      generation: 55,
      selfLink: '/y',
      generateName: 'gg-',
    });
    const { object } = (await things.update(scope, 'meta', putting(ignored), context)).entry;
    expect(object.metadata).toEqual({
      name: 'meta',
      namespace: 'n',
      generateName: 'gg-',
      uid,
      creationTimestamp,
      resourceVersion: expect.any(String),
    });
    const refused = meta({ name: 'meta', deletionTimestamp: '2001-02-03T04:05:06Z', deletionGracePeriodSeconds: 5 });
    const status = await refusal(things.update(scope, 'meta', putting(refused), context));
    expect(status.message).toBe(
      'Thing "meta" is invalid: [metadata.deletionTimestamp: Invalid value: 2001-02-03 04:05:06 +0000 UTC: field is immutable, metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable]',
    );
    expect(status.details?.causes).toHaveLength(4);
  });

  it('reports in the causes, once by each set of rules, what both find', async () => {
    await things.create(scope, thing('causes'), {}, context);
    const bad = patching((current) => ({ ...current, metadata: { ...current.metadata, finalizers: [''] } }));
    const status = await refusal(things.update(scope, 'causes', bad, context));
    expect(status.details?.causes?.map(({ field }) => field)).toEqual([
      'metadata.finalizers',
      'metadata.finalizers',
      'metadata.finalizers[0]',
      'metadata.finalizers',
      'metadata.finalizers',
      'metadata.finalizers[0]',
    ]);
  });

  it.each([
    { checks: [], fields: 3 },
    { checks: ['change'], fields: 5 },
    { checks: ['own'], fields: 6 },
    { checks: ['own', 'own', 'change'], fields: 11 },
  ] as const)('of metadata is told as often as the kind looks at it: $checks', async ({ checks, fields }) => {
    const registry = fixture.registry(thingKind({ resource: `looking${checks.join('')}`, metadataOnUpdate: checks }));
    await registry.create(scope, thing('c'), {}, context);
    const bad = putting({ ...thing(''), metadata: { name: 'c', labels: { a: 'b c' }, finalizers: ['a b'] } });
    expect((await refusal(registry.update(scope, 'c', bad, context))).details?.causes).toHaveLength(fields);
  });

  it('is computed again when another writer was faster', async () => {
    await things.create(scope, thing('race', { n: 0 }), {}, context);
    const count = patching((current) => ({ ...current, n: (current.n as number) + 1 }));
    await Promise.all(Array.from({ length: 30 }, () => things.update(scope, 'race', count, context)));
    expect((await things.get(scope, 'race', {}, context.signal)).object.n).toBe(30);
  });

  it('sees writes that memory has not heard of yet', async () => {
    for (let round = 0; round < 20; round++) {
      const { entry } = await things.create(scope, thing(`fresh-${round}`), {}, context);
      const put = putting(meta({ name: `fresh-${round}`, resourceVersion: String(entry.revision) }, { a: 1 }));
      expect((await things.update(scope, `fresh-${round}`, put, context)).entry.object.a).toBe(1);
      await things.delete(scope, `fresh-${round}`, {}, {}, context);
      expect((await refusal(things.update(scope, `fresh-${round}`, labelled('x'), context))).code).toBe(404);
    }
  });

  it('on a dry run is validated and answered, not written', async () => {
    const { entry } = await things.create(scope, thing('dry'), {}, context);
    const { entry: response } = await things.update(scope, 'dry', labelled('x'), dryRun);
    expect(response.object.metadata).toEqual({ ...entry.object.metadata, labels: { l: 'x' } });
    expect((await things.get(scope, 'dry', {}, context.signal)).revision).toBe(entry.revision);
    expect((await refusal(things.update(scope, 'dry', labelled('b c'), dryRun))).code).toBe(422);
  });
});

describe('generations', () => {
  it('count changes of the spec, not of metadata and status', async () => {
    const counted = fixture.registry(
      thingKind({
        resource: 'counteds',
        tracksGeneration: true,
        subresources: [{ name: 'status', verbs: ['update'] }],
      }),
    );
    await counted.create(scope, thing('g', { spec: { a: 1 } }), {}, context);
    const generation = async (change: (current: KubeObject) => KubeObject): Promise<unknown> =>
      (await counted.update(scope, 'g', patching(change), context)).entry.object.metadata.generation;
    expect(await generation((o) => ({ ...o, metadata: { ...o.metadata, labels: { a: 'b' } } }))).toBe(1);
    expect(await generation((o) => ({ ...o, status: { ready: true } }))).toBe(1);
    expect(await generation((o) => ({ ...o, spec: { a: 2 } }))).toBe(2);
    expect(await generation((o) => ({ ...o, metadata: { ...o.metadata, generation: 77 } }))).toBe(2);
  });

  it('count the status where it has no subresource', async () => {
    const counted = fixture.registry(thingKind({ resource: 'wholes', tracksGeneration: true }));
    await counted.create(scope, thing('g'), {}, context);
    const status = patching((current) => ({ ...current, status: { ready: true } }));
    expect((await counted.update(scope, 'g', status, context)).entry.object.metadata.generation).toBe(2);
  });
});

describe('a terminating object', () => {
  const finalizers = (...names: string[]) =>
    patching((current) => ({ ...current, metadata: { ...current.metadata, finalizers: names } }));

  it('goes with its last finalizer', async () => {
    await things.create(scope, meta({ name: 'f', finalizers: ['a.b/1', 'a.b/2'] }), {}, context);
    await things.delete(scope, 'f', {}, {}, context);
    expect((await refusal(things.update(scope, 'f', finalizers('a.b/1', 'a.b/3'), context))).message).toBe(
      'Thing "f" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a.b/3"}',
    );
    const first = await things.update(scope, 'f', finalizers('a.b/2'), context);
    expect(first.entry.object.metadata.deletionTimestamp).toBeDefined();
    const forgetful = patching((current) => {
      const { deletionTimestamp: _time, ...metadata } = current.metadata;
      return { ...current, metadata };
    });
    expect((await things.update(scope, 'f', forgetful, context)).entry.revision).toBe(first.entry.revision);
    expect((await things.update(scope, 'f', finalizers(), dryRun)).entry.object.metadata.finalizers).toEqual([]);
    const last = await things.update(scope, 'f', putting(thing('f')), context);
    expect(last.entry.object.metadata).toMatchObject({
      deletionGracePeriodSeconds: 0,
      uid: first.entry.object.metadata.uid,
    });
    expect((await refusal(things.get(scope, 'f', {}, context.signal))).code).toBe(404);
  });

  it('without a deletion stays when its finalizers go', async () => {
    await things.create(scope, meta({ name: 'stays', finalizers: ['a.b/1'] }), {}, context);
    await things.update(scope, 'stays', finalizers(), context);
    expect((await things.get(scope, 'stays', {}, context.signal)).name).toBe('stays');
  });
});
