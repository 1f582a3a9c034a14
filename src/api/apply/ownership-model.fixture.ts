import type { JsonObject, JsonValue, KubeObject } from '../object';
import type { StructType } from '../schema/model';
import { isList, isObject } from './members';
import { mergeTypeOf, type ListMergeType, type MergeType } from './merge-type';
import { zeroObject } from './zero-object';

/**
 * The rules of field ownership once more, as plainly as they can be said and without regard to cost: objects are maps from
 * paths to leaves, owners are sets of paths. Paths are texts: the elements of FieldsV1, one after the other.
 */

/** The paths of an object. A leaf has its value as text; a map or list that holds something has undefined. */
export type Paths = ReadonlyMap<string, string | undefined>;
/** What each manager owns, by operation and name (`Apply kubectl`). */
export type Owners = ReadonlyMap<string, ReadonlySet<string>>;

const SEPARATOR = '\n';
const UNOWNED = new Set(
  ['f:apiVersion', 'f:kind', 'f:metadata'].concat(
    [
      'name',
      'namespace',
      'creationTimestamp',
      'selfLink',
      'uid',
      'clusterName',
      'generation',
      'managedFields',
      'resourceVersion',
    ].map((name) => ['f:metadata', `f:${name}`].join(SEPARATOR)),
  ),
);

function below(path: string, element: string): string {
  return path === '' ? element : path + SEPARATOR + element;
}

export function isAtOrBelow(path: string, ancestor: string): boolean {
  return path === ancestor || path.startsWith(ancestor + SEPARATOR);
}

function itemPath(type: ListMergeType, item: JsonValue): string {
  if (type.relation === 'set') return `v:${JSON.stringify(item)}`;
  const keys = type.keys.map(({ name, defaultValue }) => [name, (item as JsonObject)[name] ?? defaultValue]);
  return `k:${JSON.stringify(Object.fromEntries(keys))}`;
}

/** JSON with the members of maps in order. */
function printed(value: JsonValue): string {
  return JSON.stringify(value, (_, one: JsonValue) =>
    isObject(one) ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))) : one,
  );
}

/** The members or items of a value that merges piece by piece; undefined for a leaf. */
function partsOf(
  type: MergeType,
  value: JsonValue,
): readonly (readonly [element: string, type: MergeType, part: JsonValue])[] | undefined {
  if (type.kind === 'list' && type.relation !== 'atomic' && isList(value)) {
    return value.map((item) => [itemPath(type, item), type.items, item] as const);
  }
  if ((type.kind === 'map' || type.kind === 'any') && !type.atomic && isObject(value)) {
    return Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => {
        const found = type.kind === 'any' ? type : type.typeOf(name);
        if (found === undefined) throw new Error(`no field ${name}`);
        return [`f:${name}`, found, member as JsonValue] as const;
      });
  }
  return undefined;
}

/** All paths of an object except those that cannot be owned. */
export function pathsOf(type: StructType, object: JsonObject | KubeObject): Paths {
  const result = new Map<string, string | undefined>();
  const walk = (merged: MergeType, value: JsonValue, path: string): void => {
    const parts = partsOf(merged, value);
    const isLeaf = parts === undefined || parts.length === 0;
    if (path !== '' && !UNOWNED.has(path)) result.set(path, isLeaf ? printed(value) : undefined);
    for (const [element, part, member] of parts ?? []) walk(part, member, below(path, element));
  };
  walk(mergeTypeOf(type), object as unknown as JsonValue, '');
  for (const path of result.keys()) {
    if ([...UNOWNED].some((unowned) => unowned !== 'f:metadata' && isAtOrBelow(path, unowned))) result.delete(path);
  }
  return result;
}

/** What stands in an object before anything is said of it. */
export function pathsOfNothing(type: StructType): Paths {
  return pathsOf(type, zeroObject(type));
}

/** What an applier owns: leaves, items, members of maps, and maps that it says are empty. */
export function appliedPaths(type: StructType, config: JsonObject): ReadonlySet<string> {
  const result = new Set<string>();
  const walk = (merged: MergeType, value: JsonValue, path: string): void => {
    for (const [element, part, member] of partsOf(merged, value) ?? []) {
      const child = below(path, element);
      const parts = partsOf(part, member);
      const isField = merged.kind === 'map' && merged.isField(element.slice(2));
      const isLeaf = parts === undefined && !(member === null && !isScalarOrAtomic(part));
      const isEmptyMap = member === null || (isObject(member) && Object.keys(member).length === 0);
      const saysEmpty = merged.kind === 'map' && isEmptyMap && merged.ownsEmpty(element.slice(2));
      if (isLeaf || !isField || saysEmpty) result.add(child);
      walk(part, member, child);
    }
  };
  walk(mergeTypeOf(type), config, '');
  for (const path of result) {
    if ([...UNOWNED].some((unowned) => path === unowned)) result.delete(path);
  }
  return result;
}

function isScalarOrAtomic(type: MergeType): boolean {
  return type.kind === 'scalar' || (type.kind === 'list' ? type.relation === 'atomic' : type.atomic);
}

/** Paths that are new, and leaves with another value. */
export function changedPaths(before: Paths, after: Paths): ReadonlySet<string> {
  const changed = [...after.keys()].filter((path) => {
    const [old, fresh] = [before.get(path), after.get(path)];
    return !before.has(path) || (old !== undefined && fresh !== undefined && old !== fresh);
  });
  return new Set(changed);
}

/** Others lose what a write changes and what it takes out; those left with nothing are forgotten. */
function withoutChanges(owners: Owners, before: Paths, after: Paths, writer: string): Map<string, ReadonlySet<string>> {
  const changed = changedPaths(before, after);
  const lost = (path: string): boolean => changed.has(path) || (before.has(path) && !after.has(path));
  return new Map(
    [...owners].map(([id, paths]) => [id, id === writer ? paths : new Set([...paths].filter((path) => !lost(path)))]),
  );
}

function named(owners: ReadonlyMap<string, ReadonlySet<string>>): Owners {
  return new Map([...owners].filter(([, paths]) => paths.size > 0));
}

function isSame(before: Paths, after: Paths): boolean {
  return changedPaths(before, after).size === 0 && [...before.keys()].every((path) => after.has(path));
}

/** After a write other than apply: what it changed belongs to the writer alone. `known`: {@link withInferred}. */
export function ownersAfterUpdate(owners: Owners, known: Owners, before: Paths, after: Paths, manager: string): Owners {
  if (isSame(before, after)) return owners;
  const rest = withoutChanges(known, before, after, '');
  const id = `Update ${manager}`;
  return named(rest.set(id, new Set([...(rest.get(id) ?? []), ...changedPaths(before, after)])));
}

/** After an apply: the applier owns its configuration and nothing else. `known`: {@link withInferred}. */
export function ownersAfterApply(
  owners: Owners,
  known: Owners,
  before: Paths,
  after: Paths,
  manager: string,
  configuration: ReadonlySet<string>,
): Owners {
  const id = `Apply ${manager}`;
  const previous = known.get(id);
  const repeated = previous?.size === configuration.size && [...configuration].every((path) => previous.has(path));
  if (repeated && isSame(before, after)) return owners;
  return named(withoutChanges(known, before, after, id).set(id, configuration));
}

/**
 * Owners as release 1.20 reads them before a write that changes something: who owns a map, list or item and nothing in it
 * owns all that stands in it.
 */
export function withInferred(owners: Owners, type: StructType, live: KubeObject | undefined): Owners {
  if (live === undefined) return owners;
  const paths = pathsOf(type, live);
  const ownable = [...appliedPaths(type, live as unknown as JsonObject)];
  return new Map(
    [...owners].map(([id, owned]) => {
      const alone = [...owned].filter(
        (path) =>
          paths.has(path) &&
          paths.get(path) === undefined &&
          ![...owned].some((other) => other !== path && isAtOrBelow(other, path)),
      );
      const inferred = ownable.filter((path) => alone.some((each) => isAtOrBelow(path, each)));
      return [id, new Set([...owned, ...inferred])];
    }),
  );
}

/** What other managers own of the paths. */
export function conflictsOf(owners: Owners, paths: ReadonlySet<string>, applier: string): readonly string[] {
  return [...owners]
    .filter(([id]) => id !== `Apply ${applier}`)
    .flatMap(([, owned]) => [...owned].filter((path) => paths.has(path)));
}

/** The owners that an object's managedFields tell of. */
export function recordedOwners({ metadata: { managedFields = [] } }: KubeObject): Owners {
  return new Map(
    managedFields.map(({ manager, operation, fieldsV1 }) => {
      const paths = new Set<string>();
      const walk = (fields: JsonObject, path: string): void => {
        const names = Object.keys(fields);
        if (path !== '' && (names.length === 0 || '.' in fields)) paths.add(path);
        for (const name of names) if (name !== '.') walk(fields[name] as JsonObject, below(path, name));
      };
      walk(fieldsV1 ?? {}, '');
      return [`${operation} ${manager}`, paths];
    }),
  );
}

/** In an order and form in which two can be compared, and read when they differ. */
export function printedOwners(owners: Owners): readonly string[] {
  return [...owners]
    .flatMap(([id, paths]) => [...paths].map((path) => `${id}: ${path.split(SEPARATOR).join(' ')}`))
    .sort();
}
