import { extend, withMetadata } from '../extend';
import type { KubeObject, ManagedFieldsEntry } from '../object';
import { equalApartFrom } from '../patch/json-equal';
import { sortInRuns } from '../sort-in-runs';
import { isEmpty, setOf, EMPTY_SET, type FieldSet } from './field-set';
import { parseFieldsV1, toFieldsV1 } from './fields-v1';
import { canonicalJson } from './canonical-json';
import { fieldElement } from './path-element';
import { difference, unionOf } from './set-algebra';

/** Who writes, and how. */
export interface Writer {
  readonly name: string;
  readonly operation: 'Apply' | 'Update';
  /** Of the object to which the set belongs. */
  readonly apiVersion: string;
  readonly subresource: string | undefined;
}

/** What one manager owns. All are of one shape, absent members included: V8 copies them several times as fast. */
export interface Manager extends Writer {
  /** RFC 3339, whole seconds. */
  readonly time: string | undefined;
  readonly set: FieldSet;
  /** The entry that it was read from; written again as it is while nothing changes. */
  readonly entry: ManagedFieldsEntry | undefined;
}

/** No two are the same writer. A list, as they are few: it is made and searched faster than a Map. */
export type Managers = readonly Manager[];

/** Update entries beyond this many are merged, the oldest first. */
const MAX_UPDATE_MANAGERS = 10;
const MERGED_MANAGER = 'ancient-changes';

/** An applier is the same whatever version it applies; an updater has one entry per version. */
export function isSameWriter(left: Writer, right: Writer): boolean {
  return (
    left.name === right.name &&
    left.operation === right.operation &&
    (left.apiVersion === right.apiVersion || left.operation === 'Apply') &&
    (left.subresource ?? '') === (right.subresource ?? '')
  );
}

/**
 * The text of a writer's entry without fields and time, as kube-apiserver builds it, because conflicts are listed in the
 * order of these texts. Those of two writers differ.
 */
export function writerId({ name, operation, apiVersion, subresource }: Writer): string {
  let id = name === '' ? '{' : `{"manager":${canonicalJson(name)},`;
  id += `"operation":"${operation}"`;
  if (operation === 'Update') id += `,"apiVersion":${canonicalJson(apiVersion)}`;
  if (subresource !== undefined && subresource !== '') id += `,"subresource":${canonicalJson(subresource)}`;
  return `${id}}`;
}

export function managerOf(writer: Writer, set: FieldSet, time?: string): Manager {
  const { name, operation, apiVersion, subresource } = writer;
  return { name, operation, apiVersion, subresource, time, set, entry: undefined };
}

export function findManager(managers: Managers, writer: Writer): Manager | undefined {
  return managers.find((manager) => isSameWriter(manager, writer));
}

/** The managers with this one, which takes the place of the same writer's. */
export function withManager(managers: Managers, manager: Manager): Managers {
  const index = managers.findIndex((other) => isSameWriter(other, manager));
  return index < 0 ? [...managers, manager] : managers.with(index, manager);
}

function readEntry(entry: ManagedFieldsEntry): Manager {
  const { operation, manager: name = '', apiVersion = '', subresource, time, fieldsType = '', fieldsV1 } = entry;
  if (fieldsType !== '' && fieldsType !== 'FieldsV1') {
    throw new SyntaxError(`unknown type of fields ${JSON.stringify(fieldsType)}`);
  }
  if (operation !== 'Apply' && operation !== 'Update') {
    throw new SyntaxError(`unknown operation ${JSON.stringify(operation)}`);
  }
  const set = fieldsV1 === undefined ? EMPTY_SET : parseFieldsV1(fieldsV1);
  return { name, operation, apiVersion, subresource, time, set, entry };
}

/** Reads managedFields. Throws a SyntaxError where an entry's operation or type of fields is unknown, or its fields cannot be read. */
export function readManagers(entries: readonly ManagedFieldsEntry[] = []): Managers {
  const managers: Manager[] = [];
  for (const entry of entries) managers.push(readEntry(entry));
  return lastOfEach(managers);
}

/** A client may send more than can be compared with one another. */
const FEW = 16;

/** Of the entries of one writer the last counts. */
function lastOfEach(managers: readonly Manager[]): Managers {
  const isFirst = (manager: Manager, index: number): boolean =>
    managers.findIndex((other) => isSameWriter(other, manager)) === index;
  if (managers.length <= FEW && managers.every(isFirst)) return managers;
  const last = new Map<string, Manager>();
  for (const manager of managers) last.set(writerId(manager), manager);
  return [...last.values()];
}

/** An entry with its keys in order: all maps of custom resources are written so, this one included. */
export function sortedEntry(entry: ManagedFieldsEntry): ManagedFieldsEntry {
  return Object.fromEntries(Object.entries(entry).sort(([left], [right]) => compareText(left, right)));
}

/** The entry that the manager was read from while it still describes it. */
function entryOf(manager: Manager, sorted: boolean): ManagedFieldsEntry {
  return manager.entry ?? writeEntry(manager, sorted);
}

function writeEntry(manager: Manager, sorted: boolean): ManagedFieldsEntry {
  const { name, operation, apiVersion, subresource, time, set } = manager;
  const written: ManagedFieldsEntry = {
    manager: name,
    operation,
    apiVersion,
    ...(time === undefined ? undefined : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: toFieldsV1(set),
    ...(subresource === undefined ? undefined : { subresource }),
  };
  return sorted ? sortedEntry(written) : written;
}

/** The manager with another set; the entry no longer describes it. */
export function withSet(manager: Manager, set: FieldSet): Manager {
  return set === manager.set ? manager : managerOf(manager, set, manager.time);
}

/** The manager at another time; its entry differs in nothing else, so it need not be written anew. */
export function withTime(manager: Manager, time: string): Manager {
  const { name, operation, apiVersion, subresource, time: previous, set, entry } = manager;
  if (time === previous) return manager;
  const timed = entry === undefined || previous === undefined ? undefined : extend(entry, { time });
  return { name, operation, apiVersion, subresource, time, set, entry: timed };
}

function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function compareTimes(left: Manager, right: Manager): number {
  return (Date.parse(left.time ?? '') || 0) - (Date.parse(right.time ?? '') || 0);
}

/** Appliers first, then by time, name, version and subresource. */
function compareManagers(left: Manager, right: Manager): number {
  return (
    compareText(left.operation, right.operation) ||
    compareTimes(left, right) ||
    compareText(left.name, right.name) ||
    compareText(left.apiVersion, right.apiVersion) ||
    compareText(left.subresource ?? '', right.subresource ?? '')
  );
}

/**
 * The object with these managers as its managedFields. Entries that did not change are the same objects as before, and so
 * is the list when all of them are. `sorted`: entries are written with their keys in order, as those of custom resources.
 */
export function writeManagers(
  object: KubeObject,
  managers: Managers,
  before: readonly ManagedFieldsEntry[],
  sorted: boolean,
): KubeObject {
  const { metadata } = object;
  if (managers.length === 0) return withoutManagedFields(object);
  const inOrder = managers.length === 1 ? managers : sortInRuns(managers, compareManagers);
  const entries: ManagedFieldsEntry[] = [];
  for (const manager of inOrder) entries.push(entryOf(manager, sorted));
  const same = entries.length === before.length && entries.every((entry, index) => entry === before[index]);
  if (same && metadata.managedFields === before) return object;
  return withMetadata(object, extend(metadata, { managedFields: same ? before : entries }));
}

/** The object itself if it has none. */
export function withoutManagedFields(object: KubeObject): KubeObject {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return withMetadata(object, metadata);
}

interface IdentifiedManager {
  readonly id: string;
  readonly manager: Manager;
}

function compareIdentified(left: IdentifiedManager, right: IdentifiedManager): number {
  return compareTimes(left.manager, right.manager) || compareText(left.id, right.id);
}

/** Keeps at most ten update entries: the oldest of a version go into one entry that has the time of the last of them. */
export function capUpdateManagers(managers: Managers): Managers {
  if (managers.length <= MAX_UPDATE_MANAGERS) return managers;
  const result = new Map<string, Manager>();
  for (const manager of managers) result.set(writerId(manager), manager);
  const found: IdentifiedManager[] = [];
  for (const [id, manager] of result) if (manager.operation === 'Update') found.push({ id, manager });
  let surplus = found.length - MAX_UPDATE_MANAGERS;
  if (surplus <= 0) return managers;
  const updaters = sortInRuns(found, compareIdentified);
  const firstOfVersion = new Map<string, string>();
  const merged = new Map<string, { readonly bucket: Writer; readonly sets: FieldSet[]; time: string | undefined }>();
  for (const { id, manager } of updaters) {
    if (surplus <= 0) break;
    const { apiVersion } = manager;
    const first = firstOfVersion.get(apiVersion);
    if (first === undefined) {
      firstOfVersion.set(apiVersion, id);
      continue;
    }
    const bucket: Writer = { name: MERGED_MANAGER, operation: 'Update', apiVersion, subresource: undefined };
    const bucketId = writerId(bucket);
    let merging = merged.get(bucketId);
    if (merging === undefined) {
      const collected = result.get(bucketId) ?? result.get(first);
      merged.set(
        bucketId,
        (merging = { bucket, sets: collected === undefined ? [] : [collected.set], time: undefined }),
      );
    }
    result.delete(first);
    result.delete(id);
    merging.sets.push(manager.set);
    merging.time = manager.time;
    surplus--;
  }
  for (const [id, { bucket, sets, time }] of merged) result.set(id, managerOf(bucket, unionOf(sets), time));
  return [...result.values()];
}

/** What the server writes or what identifies the object: these are never owned. */
export const UNOWNED = setOf(
  ...['apiVersion', 'kind', 'metadata'].map((name) => [fieldElement(name)]),
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => [fieldElement('metadata'), fieldElement(name)]),
);

export function withoutUnowned(set: FieldSet): FieldSet {
  return difference(set, UNOWNED);
}

/** `[{}]` asks for the managed fields to be dropped; an empty list asks for nothing. */
export function isReset(entries: readonly ManagedFieldsEntry[] | undefined): boolean {
  return entries?.length === 1 && Object.values(entries[0] as ManagedFieldsEntry).every((value) => value === undefined);
}

export function dropEmpty(managers: Managers): Managers {
  return managers.some(({ set }) => isEmpty(set)) ? managers.filter(({ set }) => !isEmpty(set)) : managers;
}

export const TIME: ReadonlySet<string> = new Set(['time']);

/**
 * Whether two lists of entries differ in nothing but times: a write that changes no more than these is none.
 */
export function equalApartFromTimes(
  left: readonly ManagedFieldsEntry[] = [],
  right: readonly ManagedFieldsEntry[] = [],
): boolean {
  if (left === right) return true;
  if (left.length !== right.length) return false;
  for (const [index, entry] of left.entries()) {
    if (!equalApartFrom(TIME, entry, right[index] as ManagedFieldsEntry)) return false;
  }
  return true;
}
