import type { KubeObject } from '../object';

export function withAnnotation(object: KubeObject, annotation: string, value: string): KubeObject {
  const annotations = { ...object.metadata.annotations, [annotation]: value };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

export function withoutAnnotations(object: KubeObject, names: readonly string[]): KubeObject {
  const { annotations, ...metadata } = object.metadata;
  if (annotations === undefined || !names.some((name) => name in annotations)) return object;
  const kept = Object.entries(annotations).filter(([name]) => !names.includes(name));
  return {
    ...object,
    metadata: kept.length === 0 ? metadata : { ...object.metadata, annotations: Object.fromEntries(kept) },
  };
}
