import type { KubeObject, ManagedFieldsEntry } from '../object';
import { jsonEqual } from '../patch/json-equal';
import { difference, isEmpty, parseFieldsV1, setOf, toFieldsV1, union, EMPTY_SET, type FieldSet } from './field-set';
import { fieldElement } from './path-element';

/** What one manager owns. */
export interface Manager {
  readonly name: string;
  readonly operation: 'Apply' | 'Update';
  /** Of the object to which the set belongs. */
  readonly apiVersion: string;
  readonly subresource?: string;
  /** RFC 3339, whole seconds. */
  readonly time?: string;
  readonly set: FieldSet;
  /** The entry that it was read from; written again as it is while nothing changes. */
  readonly entry?: ManagedFieldsEntry;
}

/** By identifier. */
export type Managers = ReadonlyMap<string, Manager>;

/** Update entries beyond this many are merged, the oldest first. */
const MAX_UPDATE_MANAGERS = 10;
const MERGED_MANAGER = 'ancient-changes';

/**
 * An applier is the same whatever version it applies; an updater has one entry per version. The text is the entry without
 * fields and time, as kube-apiserver builds it, because conflicts are listed in the order of these texts.
 */
export function managerId(manager: Omit<Manager, 'set' | 'time' | 'entry'>): string {
  const { name, operation, apiVersion, subresource } = manager;
  // What is undefined is left out. Spreads of optional parts would cost more than the rest.
  return JSON.stringify({
    manager: name === '' ? undefined : name,
    operation,
    apiVersion: operation === 'Apply' ? undefined : apiVersion,
    subresource: subresource === '' ? undefined : subresource,
  });
}

interface ReadEntry {
  readonly id: string;
  readonly manager: Manager;
}

/** Entries are shared by the versions of an object, so each is read once. */
const readEntries = new WeakMap<ManagedFieldsEntry, ReadEntry>();

function readEntry(entry: ManagedFieldsEntry): ReadEntry {
  let read = readEntries.get(entry);
  if (read === undefined) {
    if (entry.operation !== 'Apply' && entry.operation !== 'Update') {
      throw new SyntaxError(`unknown operation ${JSON.stringify(entry.operation)}`);
    }
    const manager: Manager = {
      name: entry.manager ?? '',
      operation: entry.operation,
      apiVersion: entry.apiVersion ?? '',
      set: entry.fieldsV1 === undefined ? EMPTY_SET : parseFieldsV1(entry.fieldsV1),
      entry,
      ...(entry.subresource === undefined ? {} : { subresource: entry.subresource }),
      ...(entry.time === undefined ? {} : { time: entry.time }),
    };
    read = { id: managerId(manager), manager };
    readEntries.set(entry, read);
  }
  return read;
}

/** Reads managedFields. Throws a SyntaxError where an entry's operation is unknown or its fields cannot be read. */
export function readManagers(entries: readonly ManagedFieldsEntry[]): Managers {
  const managers = new Map<string, Manager>();
  for (const entry of entries) {
    const { id, manager } = readEntry(entry);
    managers.set(id, manager);
  }
  return managers;
}

/** An entry with its keys in order: all maps of custom resources are written so, this one included. */
export function sortedEntry(entry: ManagedFieldsEntry): ManagedFieldsEntry {
  return Object.fromEntries(Object.entries(entry).sort(([left], [right]) => compareText(left, right)));
}

function writeEntry(manager: Manager, sorted: boolean): ManagedFieldsEntry {
  if (manager.entry !== undefined) return manager.entry;
  const written: ManagedFieldsEntry = {
    manager: manager.name,
    operation: manager.operation,
    apiVersion: manager.apiVersion,
    ...(manager.time === undefined ? {} : { time: manager.time }),
    fieldsType: 'FieldsV1',
    fieldsV1: toFieldsV1(manager.set),
    ...(manager.subresource === undefined ? {} : { subresource: manager.subresource }),
  };
  const entry = sorted ? sortedEntry(written) : written;
  readEntries.set(entry, { id: managerId(manager), manager: { ...manager, entry } });
  return entry;
}

/** The manager with another set; the entry no longer describes it. */
export function withSet(manager: Manager, set: FieldSet): Manager {
  if (set === manager.set) return manager;
  const { entry: _, ...rest } = manager;
  return { ...rest, set };
}

export function withTime(manager: Manager, time: string): Manager {
  if (time === manager.time) return manager;
  const { entry: _, ...rest } = manager;
  return { ...rest, time };
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
  const entries = [...managers.values()].sort(compareManagers).map((manager) => writeEntry(manager, sorted));
  const same = entries.length === before.length && entries.every((entry, index) => entry === before[index]);
  const { managedFields: current, ...metadata } = object.metadata;
  if (same ? current === before : current === undefined && entries.length === 0) return object;
  if (entries.length === 0) return { ...object, metadata };
  return { ...object, metadata: { ...metadata, managedFields: same ? before : entries } };
}

/** Keeps at most ten update entries: the oldest of a version go into one entry that has the time of the last of them. */
export function capUpdateManagers(managers: Managers): Managers {
  const updaters = [...managers].filter(([, manager]) => manager.operation === 'Update');
  let surplus = updaters.length - MAX_UPDATE_MANAGERS;
  if (surplus <= 0) return managers;
  updaters.sort(([leftId, left], [rightId, right]) => compareTimes(left, right) || compareText(leftId, rightId));
  const result = new Map(managers);
  const firstOfVersion = new Map<string, string>();
  for (const [id, manager] of updaters) {
    if (surplus <= 0) break;
    const { apiVersion } = manager;
    const first = firstOfVersion.get(apiVersion);
    if (first === undefined) {
      firstOfVersion.set(apiVersion, id);
      continue;
    }
    const bucket: Omit<Manager, 'set'> = { name: MERGED_MANAGER, operation: 'Update', apiVersion };
    const bucketId = managerId(bucket);
    const collected = result.get(bucketId) ?? result.get(first);
    result.delete(first);
    result.delete(id);
    result.set(bucketId, {
      ...bucket,
      ...(manager.time === undefined ? {} : { time: manager.time }),
      set: collected === undefined ? manager.set : union(collected.set, manager.set),
    });
    surplus--;
  }
  return result;
}

/** What the server writes or what identifies the object: nobody owns these. */
const UNOWNED = setOf(
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

export function dropEmpty(managers: ReadonlyMap<string, Manager>): Managers {
  const result = new Map<string, Manager>();
  for (const [id, manager] of managers) if (!isEmpty(manager.set)) result.set(id, manager);
  return result;
}

/**
 * Whether two lists of entries differ in nothing but times: a write that changes no more than these is none.
 */
export function equalApartFromTimes(
  left: readonly ManagedFieldsEntry[] = [],
  right: readonly ManagedFieldsEntry[] = [],
): boolean {
  if (left === right) return true;
  if (left.length !== right.length) return false;
  return left.every((entry, index) => {
    const { time: _time, ...mine } = entry;
    const { time: _otherTime, ...theirs } = right[index] as ManagedFieldsEntry;
    return jsonEqual(mine, theirs);
  });
}
