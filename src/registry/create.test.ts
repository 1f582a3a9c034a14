import {
  context,
  dryRun,
  refusal,
  RegistryFixture,
  scope,
  thing,
  thingKind,
} from '../../test/support/registry-fixture';
import type { FieldError } from '../api/errors/field-error';
import type { Strategy } from '../api/kinds/kind-definition';
import { mapEach } from '../api/fill-later';
import type { KubeObject } from '../api/object';
import { atOnce, type Steps } from '../api/parts';
import { take } from '../api/steps/both-forms.fixture';
import { checkInSteps } from '../api/validation/check-each';
import type { ResourceRegistry } from './resource-registry';

let fixture: RegistryFixture;
let things: ResourceRegistry;

beforeAll(async () => {
  fixture = await RegistryFixture.open();
  things = fixture.registry(thingKind(), { clock: () => new Date('2020-01-02T03:04:05.678Z') });
});
afterAll(() => fixture.close());

describe('create', () => {
  it('sets what the server owns and keeps the rest', async () => {
    const sent = thing('o1', { data: { k: 'v' } });
    const metadata = {
      name: 'o1',
      uid: 'mine',
      creationTimestamp: '2001-02-03T04:05:06Z',
      deletionTimestamp: '2001-02-03T04:05:06Z',
      deletionGracePeriodSeconds: 9,
      selfLink: '/x',
      resourceVersion: '',
      generation: 7,
    };
    const { entry, created } = await things.create(scope, { ...sent, metadata }, {}, context);
    expect(created).toBe(true);
    expect(entry.object).toEqual({
      kind: 'Thing',
      apiVersion: 'v1',
      metadata: {
        name: 'o1',
        namespace: 'n',
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        creationTimestamp: '2020-01-02T03:04:05Z',
        generation: 7,
        resourceVersion: String(entry.revision),
      },
      data: { k: 'v' },
    });
  });

  it('stores JSON that begins with kind, apiVersion and metadata, without a resourceVersion', async () => {
    const { entry } = await things.create(scope, { data: {}, ...thing('bytes') }, {}, context);
    const stored = await fixture.store.get('/registry/things/n/bytes');
    expect(stored?.revision).toBe(entry.revision);
    expect(stored?.value.toString()).toMatch(/^{"kind":"Thing","apiVersion":"v1","metadata":{"name":"bytes"/);
    expect(stored?.value.toString()).not.toContain('resourceVersion');
  });

  it('counts generations from 1 where the kind counts', async () => {
    const counted = fixture.registry(thingKind({ resource: 'counted', tracksGeneration: true }));
    const { entry } = await counted.create(
      scope,
      { ...thing('g'), metadata: { name: 'g', generation: 7 } },
      {},
      context,
    );
    expect(entry.object.metadata.generation).toBe(1);
  });

  it('runs mutating admission first and validating admission last', async () => {
    const seen: unknown[] = [];
    const hooks = {
      mutate: async (object: ReturnType<typeof thing>) => ({ ...object, mutated: true }),
      validate: async (object: ReturnType<typeof thing>) => void seen.push([object.mutated, object.metadata.uid]),
    };
    const { entry } = await things.create(scope, thing('admitted'), hooks, context);
    expect(seen).toEqual([[true, entry.object.metadata.uid]]);
  });

  it.each([
    [
      'another namespace',
      { name: 'x', namespace: 'other' },
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    [
      'a resourceVersion',
      { name: 'x', resourceVersion: '5' },
      400,
      'resourceVersion should not be set on objects to be created',
    ],
    ['no name', {}, 422, 'Thing "" is invalid: metadata.name: Required value: name or generateName is required'],
    [
      'a label that is none',
      { name: 'x', labels: { a: 'v'.repeat(64) } },
      422,
      `Thing "x" is invalid: metadata.labels: Invalid value: "${'v'.repeat(64)}": must be no more than 63 characters`,
    ],
  ])('refuses %s', async (_what, metadata, code, message) => {
    expect(await refusal(things.create(scope, { ...thing('x'), metadata }, {}, context))).toMatchObject({
      code,
      message,
    });
  });

  it('reports problems of metadata before those of the kind', async () => {
    const strict = fixture.registry(
      thingKind({
        resource: 'strict',
        strategy: {
          validateCreate: () => [{ reason: 'FieldValueRequired', field: 'spec.a', message: 'Required value' }],
        },
      }),
    );
    expect((await refusal(strict.create(scope, { metadata: {} }, {}, context))).message).toBe(
      'Thing "" is invalid: [metadata.name: Required value: name or generateName is required, spec.a: Required value]',
    );
  });

  it('asks rules only of what has no problem that makes them meaningless, and says so where the kind wants it', async () => {
    const required: FieldError = { reason: 'FieldValueRequired', field: 'spec', message: 'Required value' };
    const broken: FieldError = { reason: 'FieldValueInvalid', field: 'spec', message: 'a rule is broken' };
    const checkRules = function* (): Steps<readonly FieldError[]> {
      yield;
      return [broken];
    };
    const causesOf = async (name: string, strategy: Strategy): Promise<readonly unknown[] | undefined> => {
      const kind = thingKind({ resource: name, strategy: { ...strategy, checkRules } });
      const refused = await refusal(fixture.registry(kind).create(scope, thing('x'), {}, context));
      return refused.details?.causes?.map(({ field }) => field);
    };
    expect(await causesOf('valid', {})).toEqual(['spec']);
    expect(await causesOf('quiet', { validateCreate: () => [required] })).toEqual(['spec']);
    expect(await causesOf('telling', { validateCreate: () => [required], tellsOfUncheckedRules: true })).toEqual([
      'spec',
      '<nil>',
    ]);
  });

  it('takes version 0 for none', async () => {
    const { entry } = await things.create(
      scope,
      { ...thing(''), metadata: { name: 'rv0', resourceVersion: '0' } },
      {},
      context,
    );
    expect(entry.object.metadata.resourceVersion).toBe(String(entry.revision));
  });

  it('drops the namespace of a cluster-scoped object', async () => {
    const wide = fixture.registry(thingKind({ resource: 'wide', namespaced: false }));
    const { entry } = await wide.create(
      { namespace: '' },
      { ...thing(''), metadata: { name: 'w', namespace: 'foo' } },
      {},
      context,
    );
    expect(entry.key).toBe('/registry/wide/w');
    expect(entry.object.metadata.namespace).toBeUndefined();
  });

  it('lets others have their turn where what validation takes does not show in the size of an object', async () => {
    const problem: FieldError = { reason: 'FieldValueInvalid', field: 'spec', message: 'Invalid value: 1: wrong' };
    function* looking(): Steps<readonly FieldError[]> {
      for (let count = 0; count < 100; count += 1) yield;
      return [problem];
    }
    const validateCreate = () => checkInSteps(looking);
    const paced = { ...context, pace: { givesWay: false, beginLarge: async () => undefined, takeSteps: jest.fn() } };
    paced.pace.takeSteps.mockImplementation(async (steps: Steps<unknown>) => atOnce(steps));
    for (const [resource, more, turns] of [
      ['quick', {}, 0],
      ['slow', { validatesInParts: () => true }, 1],
    ] as const) {
      const registry = fixture.registry(thingKind({ resource, strategy: { validateCreate, ...more } }));
      const { details } = await refusal(registry.create(scope, thing('a'), {}, paced));
      expect(details?.causes).toEqual([expect.objectContaining({ field: 'spec' })]);
      expect(paced.pace.takeSteps).toHaveBeenCalledTimes(turns);
    }
  });

  it('prepares the long lists of a large object an item at a time', async () => {
    const items = Array.from({ length: 100 }, (_, index) => index);
    const prepare = (object: KubeObject): KubeObject => ({ ...object, items: mapEach(items, (item) => item + 1) });
    const strategy = { prepareForCreate: prepare, prepareForUpdate: prepare };
    const registry = fixture.registry(thingKind({ resource: 'prepared', strategy }));
    let steps = 0;
    const takeSteps = async <Result>(work: Steps<Result>): Promise<Result> => {
      const { result, pauses } = take(work);
      steps += pauses;
      return result;
    };
    const paced = { ...context, pace: { givesWay: true, beginLarge: async () => undefined, takeSteps } };
    const { entry } = await registry.create(scope, thing('p'), {}, paced);
    expect(entry.object['items']).toEqual(items.map((item) => item + 1));
    expect(steps).toBeGreaterThan(items.length);
    await registry.update(
      scope,
      'p',
      { retryOnConflict: false, change: async () => thing('p', { data: { a: 'b' } }) },
      paced,
    );
    expect(steps).toBeGreaterThan(2 * items.length);
  });

  it('refuses a name that is taken, also on a dry run', async () => {
    await things.create(scope, thing('twice'), {}, context);
    for (const how of [context, dryRun]) {
      expect(await refusal(things.create(scope, thing('twice'), {}, how))).toMatchObject({
        code: 409,
        reason: 'AlreadyExists',
        message: 'things "twice" already exists',
        details: { name: 'twice', kind: 'things' },
      });
    }
  });

  it('says when what takes the name is being deleted', async () => {
    await things.create(scope, { ...thing(''), metadata: { name: 'going', finalizers: ['a.b/c'] } }, {}, context);
    await things.delete(scope, 'going', {}, {}, context);
    expect((await refusal(things.create(scope, thing('going'), {}, context))).message).toBe(
      'object is being deleted: things "going" already exists',
    );
  });

  it('stores nothing on a dry run and answers without a version', async () => {
    const { entry } = await things.create(scope, thing('dry', { data: 1 }), {}, dryRun);
    expect(entry.object.metadata.resourceVersion).toBeUndefined();
    expect(entry.body.toString()).toMatch(/^"metadata":{.*},"data":1}$/);
    expect((await refusal(things.get(scope, 'dry', {}, context.signal))).code).toBe(404);
  });
});

it('says nothing of metadata where the kind finds something itself and has metadata checked last', async () => {
  const validateCreate = () => [{ reason: 'FieldValueRequired' as const, field: 'a', message: 'Required value' }];
  const metadata = { name: 'm', labels: { 'a b': '' } };
  const fieldsOf = async (strategy: object): Promise<unknown> => {
    const kind = thingKind({ resource: 'checked-last', metadataCheckedLast: true, strategy });
    const status = await refusal(fixture.registry(kind).create(scope, { ...thing(''), metadata }, {}, context));
    return status.details?.causes?.map(({ field }) => field);
  };
  expect(await fieldsOf({ validateCreate })).toEqual(['a']);
  expect(await fieldsOf({})).toEqual(['metadata.labels']);
});

describe('a resourceVersion on a dry run', () => {
  it.each(['5', '0', 'x'])('is shown as it was sent, as nothing is stored: %s', async (resourceVersion) => {
    const sent = { ...thing(''), metadata: { name: 'dry-version', resourceVersion } };
    const { entry } = await things.create(scope, sent, {}, dryRun);
    expect(entry.object.metadata.resourceVersion).toBe(resourceVersion);
  });

  it('that is empty is left out', async () => {
    const sent = { ...thing(''), metadata: { name: 'dry-version', resourceVersion: '' } };
    const { entry } = await things.create(scope, sent, {}, dryRun);
    expect(entry.object.metadata).not.toHaveProperty('resourceVersion');
  });
});

describe('generated names', () => {
  const generating = (generateName: string) => ({ ...thing(''), metadata: { generateName } });

  it('have five characters more, and at most 63', async () => {
    const short = await things.create(scope, generating('g-'), {}, context);
    expect(short.entry.name).toMatch(/^g-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    const long = await things.create(scope, generating('a'.repeat(63)), {}, context);
    expect(long.entry.name).toMatch(/^a{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });

  it('are tried again when they are taken, eight times in all', async () => {
    const suffixes = ['aaaaa', 'aaaaa', 'bbbbb'];
    let tries = 0;
    const registry = fixture.registry(thingKind({ resource: 'generated' }), {
      randomSuffix: () => suffixes[tries++] ?? 'bbbbb',
    });
    expect((await registry.create(scope, generating('g-'), {}, context)).entry.name).toBe('g-aaaaa');
    expect((await registry.create(scope, generating('g-'), {}, context)).entry.name).toBe('g-bbbbb');
    tries = 3;
    expect((await refusal(registry.create(scope, generating('g-'), {}, context))).reason).toBe('AlreadyExists');
    expect(tries).toBe(11);
  });

  it('are not for kinds that name what is nameless themselves', async () => {
    const kind = thingKind({ resource: 'limits', namedWhenNameless: true });
    const registry = fixture.registry(kind, { newUid: () => 'an-own-name' });
    expect((await registry.create(scope, generating('g-'), {}, context)).entry.name).toBe('an-own-name');
  });

  it('are checked as prefixes', async () => {
    const dot = await refusal(things.create(scope, generating('dot.'), {}, context));
    expect(dot.details?.causes?.map(({ field }) => field)).toEqual(['metadata.generateName']);
    const dash = await refusal(things.create(scope, generating('-x'), {}, context));
    expect(dash.details?.causes?.map(({ field }) => field)).toEqual(['metadata.generateName', 'metadata.name']);
  });
});
