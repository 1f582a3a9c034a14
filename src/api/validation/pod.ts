import { forbiddenField, type FieldError } from '../errors/field-error';
import { checkEach } from './check-each';
import type { KubeObject } from '../object';
import type { Pod, PodSpec } from '../schema/generated/core-v1';
import { validatePodAnnotations } from './pod/annotations';
import { validateImageSpelling } from './pod/containers';
import { validatePodSpec } from './pod/pod-spec';
import { validatePodIps } from './pod/pod-status';
import { validateSeccompAgreement } from './pod/seccomp';

/** What templates need not keep to: a token is of the pod's service account, which a template may leave open. */
function validateTokens({ serviceAccountName = '', volumes }: PodSpec): readonly FieldError[] {
  if (serviceAccountName !== '') return [];
  return checkEach(volumes, ({ projected }, volume) =>
    checkEach(projected?.sources, ({ serviceAccountToken }, source) =>
      serviceAccountToken === undefined
        ? []
        : [
            forbiddenField(
              `spec.volumes[${volume}].projected.sources[${source}].serviceAccountToken`,
              'must not be specified when serviceAccountName is not set',
            ),
          ],
    ),
  );
}

/** All problems of a pod, new or changed, but those of its metadata's general part. */
export function validatePod(object: KubeObject): readonly FieldError[] {
  const { metadata, spec = {}, status } = object as Pod;
  return [
    ...validatePodAnnotations(metadata.annotations, spec, 'metadata.annotations'),
    ...validatePodSpec(spec, metadata.name ?? '', 'spec'),
    ...validateTokens(spec),
    ...(['containers', 'initContainers'] as const).flatMap((list) =>
      checkEach(spec[list], (container, index) => validateImageSpelling(container, `spec.${list}[${index}]`)),
    ),
    ...validatePodIps(status),
  ];
}

export function validatePodCreate(object: KubeObject): readonly FieldError[] {
  const { metadata, spec = {} } = object as Pod;
  return [...validatePod(object), ...validateSeccompAgreement(metadata, spec, 'spec')];
}
