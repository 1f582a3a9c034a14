import type { JsonObject, JsonValue, KubeObject } from '../object';
import { JsonSyntaxError, parseJson } from '../codec/json-syntax';
import type { FieldSet } from './field-set';
import { isObject } from './members';
import { canonicalJson } from './canonical-json';
import { compare } from './compare';
import { TypedError, type MergeType } from './merge-type';
import { difference } from './set-algebra';
import { validateTyped } from './validate-typed';
import { toFieldSet } from './value-sets';

/** Where client-side apply keeps the configuration that it applied. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Only kubectl's own server-side apply takes over from client-side apply; others opt out by their name. */
const UPGRADING_MANAGER = 'kubectl';

export function upgradesClientSideApply(manager: string): boolean {
  return manager === UPGRADING_MANAGER;
}

/**
 * The fields that client-side apply set and that still have the value it set: kubectl may take them without conflict.
 * Undefined when the annotation is missing, unreadable or for another version.
 */
export function fieldsOfLastApplied(type: MergeType, live: KubeObject, apiVersion: string): FieldSet | undefined {
  const text = live.metadata.annotations?.[LAST_APPLIED];
  if (text === undefined || text === '') return undefined;
  try {
    const lastApplied = parseJson(text) as JsonValue;
    if (!isObject(lastApplied) || lastApplied['apiVersion'] !== apiVersion) return undefined;
    validateTyped(type, lastApplied);
    const { added, removed, modified } = compare(type, lastApplied, live as unknown as JsonValue);
    const set = difference(difference(toFieldSet(type, lastApplied), modified), added);
    return difference(set, removed);
  } catch (error) {
    if (error instanceof JsonSyntaxError || error instanceof TypedError) return undefined;
    throw error;
  }
}

/** Keeps the annotation of client-side apply, where there is one, in step with what was applied on the server. */
export function syncLastApplied(object: KubeObject, applied: JsonObject): KubeObject {
  const current = object.metadata.annotations?.[LAST_APPLIED];
  if (current === undefined || current === '') return object;
  const text = `${canonicalJson(withoutLastApplied(applied))}\n`;
  if (text === current) return object;
  const annotations = { ...object.metadata.annotations, [LAST_APPLIED]: text };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function withoutLastApplied(applied: JsonObject): JsonObject {
  const metadata = applied['metadata'];
  if (!isObject(metadata) || !isObject(metadata['annotations'])) return applied;
  const { [LAST_APPLIED]: _, ...annotations } = metadata['annotations'];
  return { ...applied, metadata: { ...metadata, annotations } };
}
