import { forbiddenField, invalid, required, type FieldError } from '../../errors/field-error';
import type { ObjectMeta } from '../../object';
import type { EphemeralVolumeSource } from '../../schema/generated/core-v1';
import { dns1123SubdomainProblems } from '../names';
import { validateAnnotations, validateLabels } from '../object-meta';
import { validateClaimSpec } from '../persistent-volume-claim';

/** Claims that are made for a pod and go with it. */

const CLAIM_METADATA = ['annotations', 'labels', 'creationTimestamp'];

function validateClaimMetadata(metadata: ObjectMeta, path: string): readonly FieldError[] {
  const others = Object.entries(metadata).filter(
    ([name, value]) => !CLAIM_METADATA.includes(name) && value !== undefined && value !== '',
  );
  return [
    ...validateAnnotations(metadata.annotations, `${path}.annotations`),
    ...validateLabels(metadata.labels, `${path}.labels`),
    ...others.map(([name]) => forbiddenField(`${path}.${name}`, 'cannot be set for an ephemeral volume')),
  ];
}

/** `podName` is empty in templates: the name of the claim is then not known yet. */
export function validateEphemeralVolume(
  { volumeClaimTemplate }: EphemeralVolumeSource,
  volume: { readonly name: string; readonly podName: string },
  path: string,
): readonly FieldError[] {
  const claimName = `${volume.podName}-${volume.name}`;
  const nameErrors =
    volume.podName === '' || volume.name === ''
      ? []
      : dns1123SubdomainProblems(claimName).map((problem) =>
          invalid(`${path}.name`, volume.name, `PVC name ${JSON.stringify(claimName)}: ${problem}`),
        );
  const field = `${path}.volumeClaimTemplate`;
  if (volumeClaimTemplate === undefined) return [...nameErrors, required(field, '')];
  return [
    ...nameErrors,
    ...validateClaimMetadata(volumeClaimTemplate.metadata ?? {}, `${field}.metadata`),
    ...validateClaimSpec(volumeClaimTemplate.spec ?? {}, `${field}.spec`),
  ];
}
