import { forbiddenField, type FieldError } from '../errors/field-error';
import type { PlainMap } from '../kinds/field-values';
import type { PodTemplateSpec } from '../schema/generated/core-v1';
import { validateAnnotations, validateLabels } from './object-meta';
import { validatePodAnnotations } from './pod/annotations';
import { validatePodSpec } from './pod/pod-spec';
import { validateSeccompAgreement } from './pod/seccomp';

/** The problems of a pod template at `path`; its metadata stands flat in the paths, on the wire as here. */
export function validatePodTemplate(template: PlainMap, path: string): readonly FieldError[] {
  const { metadata = {}, spec = {} } = template as PodTemplateSpec;
  return [
    ...validateLabels(metadata.labels, `${path}.labels`),
    ...validateAnnotations(metadata.annotations, `${path}.annotations`),
    ...validatePodAnnotations(metadata.annotations, spec, `${path}.annotations`),
    ...validatePodSpec(spec, '', `${path}.spec`),
    ...validateSeccompAgreement(metadata, spec, `${path}.spec`),
    ...((spec.ephemeralContainers ?? []).length > 0
      ? [forbiddenField(`${path}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template')]
      : []),
  ];
}
