import { invalid, notSupported, forbiddenField, type FieldError } from '../errors/field-error';
import type { PodTemplateSpec } from '../schema/generated/core-v1';
import type { LabelSelector } from '../schema/generated/meta-v1';
import { invalidLiteral, labelsLiteral } from './go-literal';
import { checkSelected } from './label-selector';
import { validatePodTemplate } from './pod-template';
import { checkEach } from './check-each';

/** One disk cannot be written to by several pods. */
export function validateSharedDisks(template: PodTemplateSpec, path: string): readonly FieldError[] {
  return checkEach(template.spec?.volumes, (volume, index) =>
    volume.gcePersistentDisk && volume.gcePersistentDisk.readOnly !== true
      ? [
          invalid(
            `${path}.spec.volumes[${index}].gcePersistentDisk.readOnly`,
            false,
            'must be true for replicated pods > 1; GCE PD can only be mounted on multiple machines if it is read-only',
          ),
        ]
      : [],
  );
}

/** The template of replicated pods: found by the selector, restarted always, without an end of their own. */
export function validateReplicatedTemplate(
  template: PodTemplateSpec,
  selector: LabelSelector | null | undefined,
  replicas: number,
  path: string,
  owner = 'ReplicaSet',
): readonly FieldError[] {
  const restartPolicy = template.spec?.restartPolicy ?? '';
  return [
    ...checkSelected(selector, template.metadata?.labels, () => [
      invalidLiteral(
        `${path}.metadata.labels`,
        labelsLiteral(template.metadata),
        '`selector` does not match template `labels`',
      ),
    ]),
    ...validatePodTemplate(template, path),
    ...(replicas > 1 ? validateSharedDisks(template, path) : []),
    ...(restartPolicy === 'Always' ? [] : [notSupported(`${path}.spec.restartPolicy`, restartPolicy, ['Always'])]),
    ...(template.spec?.activeDeadlineSeconds === undefined
      ? []
      : [forbiddenField(`${path}.spec.activeDeadlineSeconds`, `activeDeadlineSeconds in ${owner} is not Supported`)]),
  ];
}
