import type { KubeObject } from '../../object';
import { deepEqual } from '../deep-equal';
import { valueAt } from '../field-values';

/**
 * Daemon sets count the changes of their template in an annotation, which once was a field. It is the server's, whatever
 * a client sends for it.
 */
const ANNOTATION = 'deprecated.daemonset.template.generation';

function generationOf({ metadata }: KubeObject): number {
  const text = metadata.annotations?.[ANNOTATION] ?? '';
  return /^[+-]?\d+$/.test(text) ? Number(text) : 0;
}

function withGeneration(object: KubeObject, generation: number): KubeObject {
  const annotations = { ...object.metadata.annotations, [ANNOTATION]: String(generation) };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** Each write owns the annotation: it is there before the fields' owners are noted. */
export function defaultTemplateGeneration(object: KubeObject): KubeObject {
  return withGeneration(object, generationOf(object));
}

export function firstTemplateGeneration(object: KubeObject): KubeObject {
  return withGeneration(object, Math.max(1, generationOf(object)));
}

export function keepTemplateGeneration(object: KubeObject, old: KubeObject): KubeObject {
  return withGeneration(object, generationOf(old));
}

export function nextTemplateGeneration(object: KubeObject, old: KubeObject): KubeObject {
  const changed = !deepEqual(valueAt(object, 'spec', 'template'), valueAt(old, 'spec', 'template'));
  return withGeneration(object, generationOf(old) + (changed ? 1 : 0));
}
