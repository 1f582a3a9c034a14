import fc from 'fast-check';
import { mostBegunInATurn } from '../../test/support/most-begun-in-a-turn';
import { context, refusal, RegistryFixture, scope, thing, thingKind } from '../../test/support/registry-fixture';
import type { KubeObject } from '../api/object';
import { TreeSnapshot } from '../storage/cache/snapshots';
import type { Revision } from '../storage/store';
import { encodeContinueToken } from './continue-token';
import type { ResourceRegistry } from './resource-registry';
import type { ListOptions, ListResult, Scope, Selection } from './types';

const { signal } = context;
let fixture: RegistryFixture;
let things: ResourceRegistry;
/** Revisions after o1 and o2 were made, after o3 was, and after o1 was changed and o3 deleted. */
let made2: Revision;
let made3: Revision;
let last: Revision;

beforeAll(async () => {
  fixture = await RegistryFixture.open();
  things = fixture.registry(thingKind());
  await things.create({ namespace: 'm' }, thing('elsewhere'), {}, context);
  await things.create(scope, thing('o1'), {}, context);
  made2 = (await things.create(scope, thing('o2'), {}, context)).entry.revision;
  made3 = (await things.create(scope, thing('o3'), {}, context)).entry.revision;
  await things.update(
    scope,
    'o1',
    { change: async () => thing('o1', { changed: true }), retryOnConflict: true },
    context,
  );
  last = (await things.delete(scope, 'o3', {}, {}, context)).entry.revision;
  // What is listed as of an older state is told apart from this one by o9.
  await things.create(scope, thing('o9'), {}, context);
});
afterAll(() => fixture.close());

const names = ({ entries }: ListResult): string[] => [...entries].map(({ name }) => name);
const list = async (options: ListOptions, where: Scope = scope): Promise<string[]> =>
  names(await things.list(where, options, signal));
const only = (...wanted: string[]): Selection => ({ matches: ({ name }) => wanted.includes(name) });

it('begins with few others in a turn of the loop, where many have waited for the store to tell the same revision', async () => {
  const most = await mostBegunInATurn(async (matches) => {
    expect(await list({ selection: { matches } })).toHaveLength(3);
  });
  expect(most).toBeLessThanOrEqual(2);
});

describe('a list', () => {
  const current = ['o1', 'o2', 'o9'];
  const table: readonly (readonly [string, () => ListOptions, readonly string[]])[] = [
    ['unset is the newest', () => ({}), current],
    ['unset with a limit is the newest', () => ({ limit: 2 }), ['o1', 'o2']],
    ['0 is any, whole', () => ({ resourceVersion: '0', limit: 1 }), current],
    ['0 not older', () => ({ resourceVersion: '0', resourceVersionMatch: 'NotOlderThan', limit: 1 }), current],
    ['a version is not older', () => ({ resourceVersion: String(made2) }), current],
    ['a version with a limit is exact', () => ({ resourceVersion: String(made3), limit: 3 }), ['o1', 'o2', 'o3']],
    ['exact', () => ({ resourceVersion: String(made2), resourceVersionMatch: 'Exact' }), ['o1', 'o2']],
    [
      'exact with a limit',
      () => ({ resourceVersion: String(last), resourceVersionMatch: 'Exact', limit: 9 }),
      ['o1', 'o2'],
    ],
    [
      'not older with a limit is the newest',
      () => ({ resourceVersion: String(made3), resourceVersionMatch: 'NotOlderThan', limit: 3 }),
      current,
    ],
  ];
  it.each(table)('of resourceVersion %s', async (_what, options, expected) => {
    expect(await list(options())).toEqual(expected);
  });

  it('spans all namespaces without one', async () => {
    expect(await list({}, { namespace: '' })).toEqual(['elsewhere', ...current]);
  });

  it('reports the version that it shows', async () => {
    const options: ListOptions = { resourceVersion: String(made2), resourceVersionMatch: 'Exact' };
    expect((await things.list(scope, options, signal)).revision).toBe(made2);
    expect((await things.list(scope, {}, signal)).revision).toBeGreaterThan(last);
  });

  it('by name looks at one key', async () => {
    const selection: Selection = { name: 'o2', matches: ({ name }) => name === 'o2' };
    expect(await list({ selection, limit: 1 })).toEqual(['o2']);
    expect(await list({ selection: { ...selection, name: 'zz' } })).toEqual([]);
    expect(await list({ selection }, { namespace: '' })).toEqual(['o2']);
  });

  it('by a field is the same whether an index tells or not, whole and page by page', async () => {
    const pods = fixture.registry(thingKind({ resource: 'pods' }));
    const read = ({ spec }: KubeObject): string => (spec as { nodeName: string }).nodeName;
    const selectionOf = (isIndexed: boolean): Selection => ({
      field: { by: 'field', label: 'spec.nodeName', read, value: 'n1', isIndexed },
      matches: (entry) => entry.field('spec.nodeName', read) === 'n1',
    });
    for (const [index, nodeName] of ['n1', 'n2', 'n1', 'n2', 'n1'].entries()) {
      await pods.create({ namespace: index < 4 ? 'a' : 'b' }, thing(`p${index}`, { spec: { nodeName } }), {}, context);
    }
    const looked = jest.spyOn(TreeSnapshot.prototype, 'entries');
    for (const isIndexed of [false, true]) {
      const selection = selectionOf(isIndexed);
      // The first list has the index made, in the background if that takes long.
      do {
        looked.mockClear();
        await pods.list(scope, { selection }, signal);
        await new Promise((resolve) => setImmediate(resolve));
      } while (isIndexed && looked.mock.calls.length > 0);
      looked.mockClear();
      const everywhere = { namespace: '' };
      expect(names(await pods.list(everywhere, { selection }, signal))).toEqual(['p0', 'p2', 'p4']);
      expect(names(await pods.list({ namespace: 'b' }, { selection }, signal))).toEqual(['p4']);
      const first = await pods.list(everywhere, { selection, limit: 2 }, signal);
      expect(names(first)).toEqual(['p0', 'p2']);
      const rest = { selection, limit: 2, continue: first.continue ?? '' };
      expect(names(await pods.list(everywhere, rest, signal))).toEqual(['p4']);
      expect(looked.mock.calls.length > 0).toBe(!isIndexed);
    }
    looked.mockRestore();
  });

  it.each(['x', '1.0', '-1', '18446744073709551616'])('of version %j is refused', async (resourceVersion) => {
    expect(await refusal(things.list(scope, { resourceVersion }, signal))).toMatchObject({ code: 400 });
    const get = async () => things.get(scope, 'o1', { resourceVersion }, signal);
    expect(await refusal(get())).toMatchObject({ code: 400 });
  });

  it.each(['..', 'a/b'])('is no way to an object named %j', async (name) => {
    const get = async () => things.get(scope, name, {}, signal);
    for (const call of [
      get(),
      things.update(scope, name, { change: async () => thing(name), retryOnConflict: true }, context),
      things.delete(scope, name, {}, {}, context),
    ]) {
      expect((await refusal(call)).message).toMatch(/^Name parameter invalid: ".*": may not/);
    }
  });

  it('of the future is refused, with the advice to come back when it has been waited for', async () => {
    const future = '9000000000';
    const waiting = jest.spyOn(fixture.cache, 'waitFor').mockResolvedValue(false);
    const waited = await refusal(things.list(scope, { resourceVersion: future }, signal));
    expect(waited).toMatchObject({
      code: 504,
      reason: 'Timeout',
      details: {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      },
    });
    expect(waited.message).toMatch(/^Timeout: Too large resource version: 9000000000, current: \d+$/);
    waiting.mockRestore();
    const atOnce: readonly ListOptions[] = [
      { resourceVersion: future, limit: 1 },
      { resourceVersion: future, limit: 1, resourceVersionMatch: 'NotOlderThan' },
      { resourceVersion: '18446744073709551615', resourceVersionMatch: 'Exact' },
    ];
    for (const options of atOnce) {
      const status = await refusal(things.list(scope, options, signal));
      expect(status.code).toBe(504);
      expect(status.details?.retryAfterSeconds).toBeUndefined();
    }
  });

  it('of events, which have no watch cache, is never any but the newest', async () => {
    const events = fixture.registry(thingKind({ resource: 'events', watchCache: false }));
    for (const name of ['e1', 'e2', 'e3']) await events.create(scope, thing(name), {}, context);
    const page = await events.list(scope, { resourceVersion: '0', limit: 2 }, signal);
    expect([names(page), page.remainingItemCount]).toEqual([['e1', 'e2'], 1]);
    const rest = { resourceVersion: '0', limit: 2, continue: page.continue ?? '' };
    expect(names(await events.list(scope, rest, signal))).toEqual(['e3']);
    expect((await events.get(scope, 'e1', { resourceVersion: '0' }, signal)).name).toBe('e1');
    for (const refused of [
      events.list(scope, { resourceVersion: '9000000000' }, signal),
      events.get(scope, 'e1', { resourceVersion: '9000000000' }, signal),
    ]) {
      expect((await refusal(refused)).details).toEqual({
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      });
    }
  });
});

describe('a page', () => {
  it('counts what is left, unless a selector is set', async () => {
    const first = await things.list(scope, { limit: 1 }, signal);
    expect(first.remainingItemCount).toBe(2);
    const selected = await things.list(scope, { limit: 1, selection: only('o1', 'o2') }, signal);
    expect(selected.remainingItemCount).toBeUndefined();
    expect(selected.continue).toBeDefined();
    expect((await things.list(scope, { limit: 3 }, signal)).continue).toBeUndefined();
  });

  it('of a selector is filled from what matches, and the last may be empty', async () => {
    const first = await things.list(scope, { limit: 1, selection: only('o2') }, signal);
    expect(names(first)).toEqual(['o2']);
    const next = await things.list(scope, { limit: 1, selection: only('o2'), continue: first.continue ?? '' }, signal);
    expect([names(next), next.continue]).toEqual([[], undefined]);
  });

  it('goes with no other version', async () => {
    const token = (await things.list(scope, { limit: 1 }, signal)).continue ?? '';
    expect(await list({ continue: token, resourceVersion: '0' })).toEqual(['o2', 'o9']);
    expect(await refusal(things.list(scope, { continue: token, resourceVersion: '5' }, signal))).toMatchObject({
      code: 400,
      message: 'specifying resource version is not allowed when using continue',
    });
  });

  it('by name starts where its token says', async () => {
    const token = (await things.list(scope, { limit: 1 }, signal)).continue ?? '';
    const named = (name: string): ListOptions => ({ continue: token, selection: { name, ...only(name) } });
    expect(await list(named('o1'))).toEqual([]);
    expect(await list(named('o9'))).toEqual(['o9']);
  });

  it('after page shows every object once, as it was when the first was read', async () => {
    const paged = fixture.registry(thingKind({ resource: 'paged' }));
    let round = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.stringMatching(/^[a-z]([-a-z0-9]{0,4}[a-z0-9])?$/), { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 5 }),
        fc.boolean(),
        async (all, limit, selecting) => {
          const where = { namespace: `r${round++}` };
          for (const name of all) await paged.create(where, thing(name), {}, context);
          const matches = ({ name }: { readonly name: string }): boolean => !selecting || name.length % 2 === 1;
          const options: ListOptions = { limit, ...(selecting ? { selection: { matches } } : {}) };
          const seen: string[] = [];
          const revisions = new Set<number>();
          for (let token: string | undefined = ''; token !== undefined;) {
            const page: ListResult = await paged.list(where, { ...options, continue: token }, signal);
            seen.push(...names(page));
            revisions.add(page.revision);
            token = page.continue;
            await paged.create(where, thing(`zz${seen.length}-${revisions.size}`), {}, context).catch(() => undefined);
          }
          expect(seen).toEqual(all.filter((name) => matches({ name })).sort());
          expect(revisions.size).toBe(1);
        },
      ),
      { numRuns: 25 },
    );
  });
});

describe('a state that memory does not hold', () => {
  it('is read from the store', async () => {
    const cached = fixture.cache.register('things', { decode: () => thing('') });
    const lost = jest.spyOn(cached, 'snapshotAt').mockReturnValue(undefined);
    try {
      const exact: ListOptions = { resourceVersion: String(made3), resourceVersionMatch: 'Exact' };
      expect(await list(exact)).toEqual(['o1', 'o2', 'o3']);
      const page = await things.list(scope, { ...exact, limit: 2 }, signal);
      expect([names(page), page.remainingItemCount]).toEqual([['o1', 'o2'], 1]);
      expect(await list({ continue: page.continue ?? '', limit: 2 })).toEqual(['o3']);
      const matching = await things.list(scope, { ...exact, limit: 1, selection: only('o2') }, signal);
      expect([names(matching), matching.continue === undefined]).toEqual([['o2'], false]);
      expect(await list({ ...exact, selection: { name: 'o3', ...only('o3') } })).toEqual(['o3']);
    } finally {
      lost.mockRestore();
    }
  });

  it.each([
    ['and that the store has compacted', false],
    ['but the store has compacted, though memory holds it,', true],
  ])('%s is gone; a token then offers an inconsistent rest', async (_, isInMemory) => {
    const own = await RegistryFixture.open();
    const registry = own.registry(thingKind());
    for (const name of ['o1', 'o2', 'o3', 'o4']) await registry.create(scope, thing(name), {}, context);
    const first = await registry.list(scope, { limit: 2 }, signal);
    await registry.delete(scope, 'o3', {}, {}, context);
    const { entry } = await registry.create(scope, thing('o5'), {}, context);
    await own.store.compact(entry.revision);
    const cached = own.cache.register('things', { decode: () => thing('') });
    if (!isInMemory) jest.spyOn(cached, 'snapshotAt').mockReturnValue(undefined);

    const expired = await refusal(registry.list(scope, { limit: 2, continue: first.continue ?? '' }, signal));
    expect(expired).toMatchObject({ code: 410, reason: 'Expired' });
    const start = '/registry/things/n/o2\0';
    expect(expired.metadata.continue).toBe(encodeContinueToken({ revision: undefined, start }, '/registry/things/n/'));
    const rest = await registry.list(scope, { limit: 1, continue: expired.metadata.continue ?? '' }, signal);
    expect([names(rest), rest.remainingItemCount]).toEqual([['o4'], 1]);
    const exact: ListOptions = { resourceVersion: String(first.revision), resourceVersionMatch: 'Exact' };
    expect(await refusal(registry.list(scope, exact, signal))).toMatchObject({
      code: 410,
      message: 'The resourceVersion for the provided list is too old.',
    });
    await own.close();
  });

  it('is not needed while memory lags: the newest is read from the store', async () => {
    const behind = jest.spyOn(fixture.cache, 'waitFor').mockResolvedValue(false);
    const revision = jest.spyOn(fixture.cache, 'revision', 'get').mockReturnValue(1 as Revision);
    try {
      expect(await list({})).toEqual(['o1', 'o2', 'o9']);
      expect((await things.get(scope, 'o9', {}, signal)).name).toBe('o9');
    } finally {
      behind.mockRestore();
      revision.mockRestore();
    }
  });
});
