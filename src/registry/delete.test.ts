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
import type { ResourceRegistry } from './resource-registry';
import type { DeleteOptions, WatchItem } from './types';

let fixture: RegistryFixture;
let things: ResourceRegistry;
let pods: ResourceRegistry;
const now = new Date('2020-01-02T03:04:05Z');

beforeAll(async () => {
  fixture = await RegistryFixture.open();
  things = fixture.registry(thingKind(), { clock: () => now });
  const gracePeriodSeconds = (_pod: KubeObject, requested: number | bigint | undefined): number | bigint =>
    requested ?? 30;
  pods = fixture.registry(thingKind({ resource: 'pods', gracePeriodSeconds }), { clock: () => now });
});
afterAll(() => fixture.close());

const metaOf = async (registry: ResourceRegistry, name: string): Promise<KubeObject['metadata']> =>
  (await registry.get(scope, name, {}, context.signal)).object.metadata;

describe('a delete', () => {
  it('removes the object and answers its last state', async () => {
    const { entry } = await things.create(scope, thing('d', { a: 1 }), {}, context);
    const result = await things.delete(scope, 'd', {}, {}, context);
    expect(result.gone).toBe(true);
    expect(result.entry.object).toMatchObject({ a: 1, metadata: { uid: entry.object.metadata.uid } });
    expect(result.entry.revision).toBeGreaterThan(entry.revision);
    expect(await refusal(things.delete(scope, 'd', {}, {}, context))).toMatchObject({
      code: 404,
      message: 'things "d" not found',
    });
  });

  it.each([
    [{ uid: 'other' }, 'the UID in the precondition (other) does not match the UID in record'],
    [
      { resourceVersion: '1' },
      'the ResourceVersion in the precondition (1) does not match the ResourceVersion in record',
    ],
  ])('with preconditions %j that do not hold is refused', async (preconditions, message) => {
    await things.create(scope, thing('p'), {}, context).catch(() => undefined);
    const status = await refusal(things.delete(scope, 'p', { preconditions }, {}, context));
    expect(status).toMatchObject({ code: 409, details: { name: 'p', kind: 'Thing' } });
    expect(status.message).toContain(`Operation cannot be fulfilled on Thing "p": ${message}`);
  });

  it('is refused in other words where a controller has to empty the object first', async () => {
    const kind = thingKind({ resource: 'emptied', prepareForDelete: (object) => object });
    const emptied = fixture.registry(kind, { clock: () => now });
    await emptied.create(scope, thing('p'), {}, context);
    const status = await refusal(emptied.delete(scope, 'p', { preconditions: { uid: 'other' } }, {}, context));
    expect(status).toMatchObject({ code: 409, details: { name: 'p', kind: 'emptied' } });
    expect(status.message).toContain(
      'Operation cannot be fulfilled on emptied "p": Precondition failed: UID in precondition: other, UID in object meta: ',
    );
  });

  it.each([
    [
      { propagationPolicy: 'Bogus' },
      'propagationPolicy: Unsupported value: "Bogus": supported values: "Foreground", "Background", "Orphan", "nil"',
    ],
    [
      { propagationPolicy: 'Background', orphanDependents: true },
      'propagationPolicy: Invalid value: "Background": orphanDependents and deletionPropagation cannot be both set',
    ],
  ])('with options %j is refused', async (options, problem) => {
    expect((await refusal(things.delete(scope, 'x', options as DeleteOptions, {}, context))).message).toBe(
      `DeleteOptions.meta.k8s.io "" is invalid: ${problem}`,
    );
  });

  it('on a dry run answers and removes nothing', async () => {
    await things.create(scope, thing('dry'), {}, context);
    expect((await things.delete(scope, 'dry', {}, {}, dryRun)).gone).toBe(true);
    const held = await things.delete(scope, 'dry', { propagationPolicy: 'Orphan' }, {}, dryRun);
    expect(held).toMatchObject({ gone: false, entry: { object: { metadata: { finalizers: ['orphan'] } } } });
    expect((await metaOf(things, 'dry')).finalizers).toBeUndefined();
  });

  it('asks admission with the object', async () => {
    await things.create(scope, thing('ask', { a: 1 }), {}, context);
    const refuse = { admit: async (object: KubeObject) => Promise.reject(new Error(`not ${String(object.a)}`)) };
    await expect(things.delete(scope, 'ask', {}, refuse, context)).rejects.toThrow('not 1');
  });
});

describe('finalizers', () => {
  it('for the garbage collector are not set by the first delete of a kind that ignores the policy', async () => {
    const kind = thingKind({
      resource: 'defined',
      prepareForDelete: (object) => object,
      firstDeleteIgnoresPolicy: true,
    });
    const defined = fixture.registry(kind, { clock: () => now });
    await defined.create(scope, { ...thing(''), metadata: { name: 'd', finalizers: ['a.b/x'] } }, {}, context);
    const finalizersAfter = async (options: DeleteOptions): Promise<unknown> =>
      (await defined.delete(scope, 'd', options, {}, context)).entry.object.metadata.finalizers;
    expect(await finalizersAfter({ propagationPolicy: 'Orphan' })).toEqual(['a.b/x']);
    expect(await finalizersAfter({ propagationPolicy: 'Foreground' })).toEqual(['a.b/x', 'foregroundDeletion']);
  });

  it('hold an object, and a second delete changes nothing', async () => {
    await things.create(scope, { ...thing(''), metadata: { name: 'held', finalizers: ['a.b/c'] } }, {}, context);
    const first = await things.delete(scope, 'held', { gracePeriodSeconds: 0 }, {}, context);
    expect(first.gone).toBe(false);
    expect(first.entry.object.metadata).toMatchObject({
      finalizers: ['a.b/c'],
      deletionTimestamp: '2020-01-02T03:04:05Z',
      deletionGracePeriodSeconds: 0,
    });
    expect((await things.delete(scope, 'held', {}, {}, context)).entry.revision).toBe(first.entry.revision);
  });

  const cases: readonly (readonly [readonly string[], DeleteOptions, readonly string[] | 'gone'])[] = [
    [[], {}, 'gone'],
    [[], { propagationPolicy: 'Background' }, 'gone'],
    [[], { propagationPolicy: 'Foreground' }, ['foregroundDeletion']],
    [[], { propagationPolicy: 'Orphan' }, ['orphan']],
    [[], { orphanDependents: true }, ['orphan']],
    [[], { orphanDependents: false }, 'gone'],
    [['orphan'], {}, ['orphan']],
    [['foregroundDeletion'], { propagationPolicy: 'Background' }, 'gone'],
    [['a.b/x'], { propagationPolicy: 'Foreground' }, ['a.b/x', 'foregroundDeletion']],
    [['a.b/x', 'orphan'], { propagationPolicy: 'Background' }, ['a.b/x']],
    [['foregroundDeletion', 'a.b/x'], { propagationPolicy: 'Orphan' }, ['a.b/x', 'orphan']],
  ];
  it.each(cases)('%j, deleted with %j, become %j', async (finalizers, options, expected) => {
    const name = `c${cases.findIndex((one) => one[0] === finalizers && one[1] === options)}`;
    const metadata = finalizers.length === 0 ? { name } : { name, finalizers };
    await things.create(scope, { ...thing(''), metadata }, {}, context);
    const { gone, entry } = await things.delete(scope, name, options, {}, context);
    expect(gone ? 'gone' : entry.object.metadata.finalizers).toEqual(expected);
  });

  it('for the garbage collector are not set where nothing depends on objects', async () => {
    const kind = thingKind({ resource: 'leaves', defaultGarbageCollection: 'unsupported' });
    const leaves = fixture.registry(kind, { clock: () => now });
    for (const options of [
      { propagationPolicy: 'Foreground' },
      { propagationPolicy: 'Orphan' },
      { orphanDependents: true },
    ] as const) {
      await leaves.create(scope, thing('leaf'), {}, context);
      expect((await leaves.delete(scope, 'leaf', options, {}, context)).gone).toBe(true);
    }
  });

  it('of a kind that orphans by default say so', async () => {
    const orphaning = fixture.registry(
      thingKind({ resource: 'orphanings', defaultGarbageCollection: 'orphan', tracksGeneration: true }),
    );
    await orphaning.create(scope, thing('o'), {}, context);
    const { entry } = await orphaning.delete(scope, 'o', {}, {}, context);
    expect(entry.object.metadata).toMatchObject({ finalizers: ['orphan'], generation: 2 });
    expect((await orphaning.delete(scope, 'o', { propagationPolicy: 'Background' }, {}, context)).gone).toBe(true);
  });
});

describe('graceful deletion', () => {
  it('sets the end of the period, which may be shortened, not prolonged', async () => {
    await pods.create(scope, thing('g'), {}, context);
    const grace = async (gracePeriodSeconds?: number): Promise<unknown> => {
      const options = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
      const { gone, entry } = await pods.delete(scope, 'g', options, {}, context);
      const { deletionTimestamp, deletionGracePeriodSeconds } = entry.object.metadata;
      return [gone, deletionTimestamp, deletionGracePeriodSeconds];
    };
    expect(await grace()).toEqual([false, '2020-01-02T03:04:35Z', 30]);
    expect(await grace()).toEqual([false, '2020-01-02T03:04:35Z', 30]);
    expect(await grace(10)).toEqual([false, '2020-01-02T03:04:15Z', 10]);
    expect(await grace(20)).toEqual([false, '2020-01-02T03:04:15Z', 10]);
    expect(await grace(0)).toEqual([true, '2020-01-02T03:04:05Z', 0]);
    expect((await refusal(pods.get(scope, 'g', {}, context.signal))).code).toBe(404);
  });

  it('that no calendar holds ends with the longest that Go can count, and can be shortened', async () => {
    await pods.create(scope, thing('patient'), {}, context);
    const grace = async (gracePeriodSeconds: number): Promise<unknown> =>
      (await pods.delete(scope, 'patient', { gracePeriodSeconds }, {}, context)).entry.object.metadata;
    expect(await grace(9e15)).toMatchObject({
      deletionTimestamp: '2312-04-13T02:51:21Z',
      deletionGracePeriodSeconds: 9e15,
    });
    expect(await grace(10)).toMatchObject({
      deletionTimestamp: '2020-01-02T03:04:15Z',
      deletionGracePeriodSeconds: 10,
    });
  });

  it('by force tells watchers before it removes', async () => {
    const { entry } = await pods.create(scope, thing('forced'), {}, context);
    await pods.delete(scope, 'forced', { gracePeriodSeconds: 0 }, {}, context);
    const stop = new AbortController();
    const seen: (readonly [string, unknown])[] = [];
    const options = { resourceVersion: String(entry.revision), allowWatchBookmarks: false };
    await pods.watch(scope, options, stop.signal).run((items) => {
      for (const item of items as readonly Exclude<WatchItem, { type: 'BOOKMARK' }>[]) {
        seen.push([item.type, item.entry.object.metadata.deletionGracePeriodSeconds]);
      }
      if (seen.length === 2) stop.abort();
    });
    expect(seen).toEqual([
      ['MODIFIED', 0],
      ['DELETED', 0],
    ]);
  });

  it('waits for finalizers, too', async () => {
    await pods.create(scope, { ...thing(''), metadata: { name: 'fin', finalizers: ['a.b/x'] } }, {}, context);
    expect((await pods.delete(scope, 'fin', { gracePeriodSeconds: 0 }, {}, context)).gone).toBe(false);
    await pods.update(scope, 'fin', putting(thing('fin')), context);
    expect((await refusal(pods.get(scope, 'fin', {}, context.signal))).code).toBe(404);
  });
});

describe('a kind that a controller empties first', () => {
  it('is marked by the first delete and goes when its own finalizers are gone', async () => {
    const holding = (object: KubeObject): readonly string[] =>
      (object.spec as { finalizers?: string[] }).finalizers ?? [];
    const spaces = fixture.registry(
      thingKind({
        resource: 'spaces',
        namespaced: false,
        prepareForDelete: (object) => ({ ...object, status: { phase: 'Terminating' } }),
        canRemove: (object) => holding(object).length === 0,
      }),
      { clock: () => now },
    );
    const wide = { namespace: '' };
    await spaces.create(wide, thing('s', { spec: { finalizers: ['kubernetes'] } }), {}, context);
    const first = await spaces.delete(wide, 's', {}, {}, context);
    expect(first).toMatchObject({ gone: false, entry: { object: { status: { phase: 'Terminating' } } } });
    expect(first.entry.object.metadata).toMatchObject({ deletionTimestamp: '2020-01-02T03:04:05Z' });
    expect(first.entry.object.metadata.deletionGracePeriodSeconds).toBeUndefined();
    expect((await spaces.delete(wide, 's', {}, {}, context)).entry.revision).toBe(first.entry.revision);
    await spaces.update(
      wide,
      's',
      patching((current) => ({ ...current, spec: {} })),
      context,
    );
    expect((await refusal(spaces.get(wide, 's', {}, context.signal))).code).toBe(404);
  });
});

describe('deletecollection', () => {
  it('deletes what a list gives, page by page, and answers that list', async () => {
    const registry = fixture.registry(thingKind({ resource: 'collections' }));
    for (const name of ['a', 'b', 'c', 'd']) await registry.create(scope, thing(name), {}, context);
    const selection = { matches: (entry: { readonly name: string }) => entry.name !== 'b' };
    const names = (entries: Iterable<{ readonly name: string }>): string[] => [...entries].map(({ name }) => name);

    const dry = await registry.deleteCollection(scope, {}, {}, {}, dryRun);
    expect(names(dry.entries)).toEqual(['a', 'b', 'c', 'd']);
    const page = await registry.deleteCollection(scope, { limit: 1 }, {}, {}, context);
    expect([names(page.entries), page.remainingItemCount]).toEqual([['a'], 3]);
    expect(names((await registry.deleteCollection(scope, { selection }, {}, {}, context)).entries)).toEqual(['c', 'd']);
    expect(names((await registry.list(scope, {}, context.signal)).entries)).toEqual(['b']);
    const preconditions = { resourceVersion: '1' };
    expect((await refusal(registry.deleteCollection(scope, {}, { preconditions }, {}, context))).code).toBe(409);
  });

  it('opens a large object in steps, also when it is the server itself that deletes', async () => {
    const registry = fixture.registry(thingKind({ resource: 'larges' }));
    await registry.create(scope, thing('large', { text: 'x'.repeat(100_000) }), {}, context);
    const [entry] = [...(await registry.list(scope, {}, context.signal)).entries];
    const prepare = jest.spyOn(entry!, 'prepare');
    await registry.deleteCollection(scope, {}, {}, {}, { signal: context.signal, dryRun: false });
    expect(prepare).toHaveBeenCalled();
  });
});
