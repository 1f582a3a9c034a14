import { required, type FieldError } from '../errors/field-error';
import { isPlainMap, listAt, mapAt, stringAt, type PlainMap } from '../kinds/field-values';

const LATEST = 'latest';

/** The tag of an image reference: `latest` when it names neither a tag nor a digest. */
export function imageTag(image: string): string {
  const name = image.slice(image.lastIndexOf('/') + 1);
  if (name.includes('@')) return '';
  const colon = name.indexOf(':');
  return colon < 0 ? LATEST : name.slice(colon + 1);
}

function defaultContainer(container: unknown): unknown {
  if (!isPlainMap(container) || stringAt(container, 'imagePullPolicy') !== '') return container;
  const always = imageTag(stringAt(container, 'image')) === LATEST;
  return { ...container, imagePullPolicy: always ? 'Always' : 'IfNotPresent' };
}

/** The defaults of a pod template that depend on its other fields; the constant ones are the schema's. */
export function podTemplateDefaults(template: PlainMap): PlainMap {
  const spec = mapAt(template, 'spec');
  const defaulted = ['initContainers', 'containers']
    .filter((field) => Array.isArray(spec[field]))
    .map((field) => [field, listAt(spec, field).map(defaultContainer)] as const);
  return { ...template, spec: { ...spec, ...Object.fromEntries(defaulted) } };
}

/** The problems of a pod template at `path`. */
export function validatePodTemplate(template: PlainMap, path: string): readonly FieldError[] {
  return listAt(template, 'spec', 'containers').length === 0 ? [required(`${path}.spec.containers`, '')] : [];
}
