import type { KubeObject } from '../../object';
import { fill } from '../../fill-later';
import { mergedMap } from '../../merged-map';
import type { Steps } from '../../parts';
import { deepEqual } from '../../steps/generated/kinds/deep-equal';
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

type Annotations = Record<string, string>;

function withAnnotations(object: KubeObject, annotations: Annotations): KubeObject {
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function withGeneration(object: KubeObject, generation: number): KubeObject {
  return withAnnotations(object, mergedMap(object.metadata.annotations ?? {}, { [ANNOTATION]: String(generation) }));
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
  const annotations = mergedMap(object.metadata.annotations ?? {}, { [ANNOTATION]: '' });
  fill(setNext(annotations, object, old));
  return withAnnotations(object, annotations);
}

function* setNext(annotations: Annotations, object: KubeObject, old: KubeObject): Steps<void> {
  const isSame = yield* deepEqual(valueAt(object, 'spec', 'template'), valueAt(old, 'spec', 'template'));
  annotations[ANNOTATION] = String(generationOf(old) + (isSame ? 0 : 1));
}
