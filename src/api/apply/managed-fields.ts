import type { KubeObject, ManagedFieldsEntry } from '../object';
import { equalApartFrom } from '../patch/json-equal';
import { difference, isEmpty, parseFieldsV1, setOf, toFieldsV1, union, EMPTY_SET, type FieldSet } from './field-set';
import { canonicalJson, fieldElement } from './path-element';

/** Who writes, and how. An applier is the same whatever version it applies; an updater has one entry per version. */
export interface Writer {
  /** See {@link writerOf}. */
  readonly id: string;
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

/** By identifier. */
export type Managers = ReadonlyMap<string, Manager>;

export const NO_MANAGERS: Managers = new Map();

/** Update entries beyond this many are merged, the oldest first. */
const MAX_UPDATE_MANAGERS = 10;
const MERGED_MANAGER = 'ancient-changes';

/**
 * A writer with its identifier: the text of its entry without fields and time, as kube-apiserver builds it, because
 * conflicts are listed in the order of these texts.
 */
export function writerOf(
  name: string,
  operation: Writer['operation'],
  apiVersion: string,
  subresource: string | undefined,
): Writer {
  let id = name === '' ? '{' : `{"manager":${canonicalJson(name)},`;
  id += `"operation":"${operation}"`;
  if (operation === 'Update') id += `,"apiVersion":${canonicalJson(apiVersion)}`;
  if (subresource !== undefined && subresource !== '') id += `,"subresource":${canonicalJson(subresource)}`;
  return { id: `${id}}`, name, operation, apiVersion, subresource };
}

export function managerOf(writer: Writer, set: FieldSet, time?: string): Manager {
  const { id, name, operation, apiVersion, subresource } = writer;
  return { id, name, operation, apiVersion, subresource, time, set, entry: undefined };
}

function readEntry(entry: ManagedFieldsEntry): Manager {
  const { operation, manager: name = '', apiVersion = '', subresource, time, fieldsV1 } = entry;
  if (operation !== 'Apply' && operation !== 'Update') {
    throw new SyntaxError(`unknown operation ${JSON.stringify(operation)}`);
  }
  const { id } = writerOf(name, operation, apiVersion, subresource);
  const set = fieldsV1 === undefined ? EMPTY_SET : parseFieldsV1(fieldsV1);
  return { id, name, operation, apiVersion, subresource, time, set, entry };
}

/** Reads managedFields. Throws a SyntaxError where an entry's operation is unknown or its fields cannot be read. */
export function readManagers(entries: readonly ManagedFieldsEntry[] | undefined): Managers {
  if (entries === undefined || entries.length === 0) return NO_MANAGERS;
  const managers = new Map<string, Manager>();
  for (const entry of entries) {
    const manager = readEntry(entry);
    managers.set(manager.id, manager);
  }
  return managers;
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
  const { id, name, operation, apiVersion, subresource, time: previous, set, entry } = manager;
  if (time === previous) return manager;
  const timed = entry === undefined || previous === undefined ? undefined : { ...entry, time };
  return { id, name, operation, apiVersion, subresource, time, set, entry: timed };
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
  if (managers.size === 0) return metadata.managedFields === undefined ? object : withoutManagedFields(object);
  const inOrder = [...managers.values()];
  if (inOrder.length > 1) inOrder.sort(compareManagers);
  const entries = inOrder.map((manager) => entryOf(manager, sorted));
  const same = entries.length === before.length && entries.every((entry, index) => entry === before[index]);
  if (same && metadata.managedFields === before) return object;
  return { ...object, metadata: { ...metadata, managedFields: same ? before : entries } };
}

function withoutManagedFields(object: KubeObject): KubeObject {
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
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
    const bucket = writerOf(MERGED_MANAGER, 'Update', apiVersion, undefined);
    const collected = result.get(bucket.id) ?? result.get(first);
    result.delete(first);
    result.delete(id);
    const set = collected === undefined ? manager.set : union(collected.set, manager.set);
    result.set(bucket.id, managerOf(bucket, set, manager.time));
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

const TIME: ReadonlySet<string> = new Set(['time']);

/**
 * Whether two lists of entries differ in nothing but times: a write that changes no more than these is none.
 */
export function equalApartFromTimes(
  left: readonly ManagedFieldsEntry[] = [],
  right: readonly ManagedFieldsEntry[] = [],
): boolean {
  if (left === right) return true;
  if (left.length !== right.length) return false;
  return left.every((entry, index) => equalApartFrom(TIME, entry, right[index] as ManagedFieldsEntry));
}
