import type { KubeObject } from '../object';
import { podTemplateDefaults } from './core/pod-defaults';
import { isPlainMap, valueAt, type PlainMap } from './field-values';

function replaceAt(value: PlainMap, [head, ...rest]: readonly string[], replacement: PlainMap): PlainMap {
  if (head === undefined) return replacement;
  const child = value[head];
  return { ...value, [head]: replaceAt(isPlainMap(child) ? child : {}, rest, replacement) };
}

/** The object with the computed defaults of the pod template at this path; unchanged where there is none. */
export function defaultTemplateAt(object: KubeObject, ...path: readonly string[]): KubeObject {
  const template = valueAt(object, ...path);
  if (!isPlainMap(template)) return object;
  return replaceAt(object, path, podTemplateDefaults(template)) as KubeObject;
}
