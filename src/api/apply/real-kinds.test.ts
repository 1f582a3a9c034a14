import * as fc from 'fast-check';
import { StatusError } from '../errors/status-error';
import type { JsonObject, JsonValue, KubeObject } from '../object';
import { jsonEqual } from '../patch/json-equal';
import { inBothForms } from '../steps/both-forms.fixture';
import * as inSteps from '../steps/generated/apply/field-manager';
import * as plain from './field-manager';
import type { StructType } from '../schema/model';
import { mergeTypeOf } from './merge-type';
import {
  appliedPaths,
  changedPaths,
  conflictsOf,
  isAtOrBelow,
  ownersAfterApply,
  ownersAfterUpdate,
  pathsOf,
  pathsOfNothing,
  printedOwners,
  recordedOwners,
  withInferred,
  type Owners,
  type Paths,
} from './ownership-model.fixture';
import { decisions, objectsOf, REAL_KINDS, variantOf, type ObjectOptions, type RealKind } from './real-objects.fixture';
import { merge } from './merge-values';

const apply = inBothForms(plain.apply, inSteps.apply);
const trackUpdate = inBothForms(plain.trackUpdate, inSteps.trackUpdate);

/** The laws of apply for objects of every built-in kind. `STERNPOST_LAW_RUNS` raises the number of runs. */

const RUNS = { numRuns: Number(process.env.STERNPOST_LAW_RUNS ?? 150) };
const NOW = '2020-01-01T00:00:00Z';
const kinds = fc.constantFrom(...REAL_KINDS);

function applied(
  { gvk, type }: RealKind,
  live: KubeObject | undefined,
  config: JsonObject,
  manager: string,
  force = true,
) {
  return apply({ type, gvk, live, applied: config, manager, now: NOW, force }).object;
}

function updated(
  { gvk, type }: RealKind,
  live: KubeObject | undefined,
  object: JsonObject,
  manager: string,
): KubeObject {
  return trackUpdate({ type, gvk, live, object: object as unknown as KubeObject, manager, now: NOW });
}

/** Content regardless of the order of items, without owners and without what is empty. */
function content(object: KubeObject): unknown {
  const { managedFields: _, ...metadata } = object.metadata;
  return withoutEmpty({ ...object, metadata });
}

function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(withoutEmpty).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  if (value === null || typeof value !== 'object') return value;
  const members = Object.entries(value)
    .map(([name, member]) => [name, withoutEmpty(member)] as const)
    .filter(([, member]) => member !== undefined && !['{}', '[]', 'null'].includes(JSON.stringify(member)))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members);
}

/** A kind, one of its objects, and parts of it; with `changing` these have some other values. */
function variants<const N extends number>(count: N, changing: boolean, options: ObjectOptions = {}) {
  return kinds.chain((kind) =>
    fc
      .tuple(objectsOf(kind, options), fc.array(decisions, { minLength: count, maxLength: count }))
      .map(([object, drawn]) => ({
        kind,
        object,
        parts: drawn.map((each) => variantOf(kind.type, object, each, changing)),
      })),
  );
}

function firstOf<T>(values: readonly T[]): readonly [T, T] {
  return [values[0] as T, values[1] as T];
}

describe('on objects of the built-in kinds', () => {
  it('what is applied is in the merged object, and merging it again changes nothing', () => {
    fc.assert(
      fc.property(variants(2, true, { empties: true }), ({ kind, parts }) => {
        const [live, config] = firstOf(parts);
        const before = JSON.stringify([live, config]);
        const merged = mergeTypeOf(kind.type);
        const result = merge(merged, live, config) as JsonValue;
        expect(jsonEqual(merge(merged, result, config), result)).toBe(true);
        expect(JSON.stringify([live, config])).toBe(before);
      }),
      RUNS,
    );
  });

  it('applying twice is applying once', () => {
    fc.assert(
      fc.property(variants(2, true, { empties: true }), ({ kind, parts }) => {
        const [before, config] = firstOf(parts);
        const once = applied(kind, updated(kind, undefined, before, 'u'), config, 'm');
        // An object without owned fields is one that was never applied to.
        if (once.metadata.managedFields === undefined) return;
        expect(applied(kind, once, config, 'm')).toBe(once);
      }),
      RUNS,
    );
  });

  it('an empty struct that another manager owns stays when what stood beside it is given up', () => {
    const kind = REAL_KINDS.find(({ gvk }) => gvk.kind === 'ReplicationController') as RealKind;
    const base = { apiVersion: 'v1', kind: 'ReplicationController', metadata: { name: 'x' } };
    const start = updated(kind, undefined, { ...base, spec: { template: { spec: {} } } }, 'u');
    const both = applied(kind, start, { ...base, spec: { replicas: 1 } }, 'm', false);
    expect(applied(kind, both, base, 'm', false)).toEqual(start);
  });

  it('an item without its name is called by the zero that Go writes of the field, for validation to refuse', () => {
    const kind = REAL_KINDS.find(({ gvk }) => gvk.kind === 'ReplicationController') as RealKind;
    const podSpec = (spec: JsonObject): JsonObject => ({
      apiVersion: 'v1',
      kind: 'ReplicationController',
      metadata: { name: 'x' },
      spec: { template: { spec } },
    });
    const [owner] = applied(kind, undefined, podSpec({ containers: [{ ports: [{}] }] }), 'm').metadata.managedFields!;
    expect(JSON.stringify(owner)).toContain('"k:{\\"name\\":\\"\\"}"');
    expect(JSON.stringify(owner)).toContain('"k:{\\"containerPort\\":0,\\"protocol\\":\\"TCP\\"}"');
    // Where Go would leave it out, there is nothing to call it by.
    expect(() => applied(kind, undefined, podSpec({ imagePullSecrets: [{}] }), 'm')).toThrow('omits key field "name"');
    expect(() => applied(kind, undefined, podSpec({ containers: [{}, {}] }), 'm')).toThrow('[name=""]');
  });

  it('applying nothing after applying returns to what was before, owners included', () => {
    fc.assert(
      fc.property(variants(2, false), ({ kind, parts }) => {
        const [before, config] = firstOf(parts);
        const start = updated(kind, undefined, before, 'u');
        if (start.metadata.managedFields === undefined) return;
        const { apiVersion, kind: name } = config;
        const nothing = { apiVersion, kind: name, metadata: { name: 'x' } } as JsonObject;
        const back = applied(kind, applied(kind, start, config, 'm', false), nothing, 'm', false);
        expect(content(back)).toEqual(content(start));
        expect(printedOwners(recordedOwners(back))).toEqual(printedOwners(recordedOwners(start)));
      }),
      RUNS,
    );
  });

  it('managers that agree may come in any order, and need no force', () => {
    fc.assert(
      fc.property(variants(2, false), ({ kind, parts }) => {
        const [one, other] = firstOf(parts);
        const forwards = applied(kind, applied(kind, undefined, one, 'm1', false), other, 'm2', false);
        const backwards = applied(kind, applied(kind, undefined, other, 'm2', false), one, 'm1', false);
        expect(content(forwards)).toEqual(content(backwards));
        expect(printedOwners(recordedOwners(forwards))).toEqual(printedOwners(recordedOwners(backwards)));
      }),
      RUNS,
    );
  });

  it('who owns what is what a computation from scratch says, conflicts included', () => {
    const writers = fc.array(fc.tuple(fc.constantFrom('one', 'two', 'three'), fc.boolean()), {
      minLength: 6,
      maxLength: 6,
    });
    fc.assert(
      fc.property(variants(6, true), writers, ({ kind, parts }, writes) => {
        const { type } = kind;
        let live: KubeObject | undefined;
        let paths: Paths = pathsOfNothing(type);
        let owners: Owners = new Map();
        for (const [index, part] of parts.entries()) {
          const [manager, applies] = writes[index] as readonly [string, boolean];
          const known = withInferred(owners, type, live);
          const next = applies ? applied(kind, live, part, manager) : updated(kind, live, part, manager);
          const after = pathsOf(type, next);
          if (applies) {
            const configuration = appliedPaths(type, part);
            const conflicts = conflictsOf(known, changedPaths(paths, after), manager);
            expect(conflictsWithoutForce(kind, live, part, manager)).toBe(conflicts.length);
            checkMerged({ type, owners: known, paths, after, manager, configuration, config: pathsOf(type, part) });
            owners = ownersAfterApply(owners, known, paths, after, manager, configuration);
          } else {
            owners = ownersAfterUpdate(owners, known, paths, after, manager);
          }
          expect(printedOwners(recordedOwners(next))).toEqual(printedOwners(owners));
          // An object whose last owner is gone is no longer tracked.
          if (owners.size === 0) return;
          paths = after;
          live = next;
        }
      }),
      RUNS,
    );
  });
});

/** How many fields a conflict names; 0 when there is none. */
function conflictsWithoutForce(
  kind: RealKind,
  live: KubeObject | undefined,
  config: JsonObject,
  manager: string,
): number {
  try {
    applied(kind, live, config, manager, false);
    return 0;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    expect(error.status.code).toBe(409);
    return error.status.details?.causes?.length ?? 0;
  }
}

/** What an applied object consists of: the configuration, and what was there and was not given up. */
function checkMerged(apply: {
  readonly type: StructType;
  readonly owners: Owners;
  readonly paths: Paths;
  readonly after: Paths;
  readonly manager: string;
  readonly configuration: ReadonlySet<string>;
  readonly config: Paths;
}): void {
  const { type, owners, paths, after, manager, configuration, config } = apply;
  const isEmpty = (value: string | undefined): boolean => value === '{}' || value === '[]' || value === undefined;
  for (const [path, value] of config) if (!isEmpty(value)) expect([path, after.get(path)]).toEqual([path, value]);
  for (const [path, value] of after) {
    if (!isEmpty(value)) expect([path, value]).toEqual([path, config.get(path) ?? paths.get(path)]);
  }
  const givenUp = [...(owners.get(`Apply ${manager}`) ?? [])].filter((path) => !configuration.has(path));
  const owned = [...owners].flatMap(([id, set]) => (id === `Apply ${manager}` ? [...configuration] : [...set]));
  const isOwned = (path: string): boolean => owned.some((each) => isAtOrBelow(each, path));
  expect(givenUp.filter((path) => after.has(path) && !isOwned(path))).toEqual([]);
  // Zero values are not owned; decoding puts them back.
  const zeros = pathsOfNothing(type);
  for (const path of paths.keys()) {
    if (after.has(path) || zeros.has(path)) continue;
    expect([path, givenUp.some((each) => isAtOrBelow(path, each) || isAtOrBelow(each, path))]).toEqual([path, true]);
    // An item goes whole, with what others own in it, unless they own the item too.
    const inItem = givenUp.some((each) => each !== path && isAtOrBelow(path, each) && !owned.includes(each));
    expect([path, owned.includes(path) && !inItem]).toEqual([path, false]);
  }
}
