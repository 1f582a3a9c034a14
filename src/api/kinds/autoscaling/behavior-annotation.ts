import { parseJson } from '../../codec/json-syntax';
import type { KubeObject } from '../../object';
import { isPlainMap, type PlainMap } from '../field-values';

/** Where versions without a field for it keep the scaling behaviour, with field names in capitals. */
export const BEHAVIOR_ANNOTATION = 'autoscaling.alpha.kubernetes.io/behavior';

function renameKeys(value: unknown, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renameKeys(item, rename));
  if (!isPlainMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [rename(key), renameKeys(item, rename)]));
}

export function writeBehavior(behavior: PlainMap): string {
  return JSON.stringify(renameKeys(behavior, (key) => key.charAt(0).toUpperCase() + key.slice(1)));
}

/** The annotation's JSON; undefined when there is none, or when it cannot be read, as it is anyone's to write. */
export function parseAnnotation(object: KubeObject, annotation: string): unknown {
  const text = object.metadata.annotations?.[annotation];
  if (text === undefined) return undefined;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

export function readBehavior(object: KubeObject): PlainMap | undefined {
  const parsed = renameKeys(
    parseAnnotation(object, BEHAVIOR_ANNOTATION),
    (key) => key.charAt(0).toLowerCase() + key.slice(1),
  );
  return isPlainMap(parsed) ? parsed : undefined;
}
