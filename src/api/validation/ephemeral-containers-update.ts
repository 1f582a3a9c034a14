import { forbiddenField, type FieldError } from '../errors/field-error';
import type { KubeObject } from '../object';
import type { EphemeralContainer, Pod } from '../schema/generated/core-v1';
import { checkEach, checkInSteps } from './check-each';
import { validatePod } from './pod';
import { MIRROR_POD_ANNOTATION, validatePodAnnotationsUpdate } from './pod/annotations';
import { describeChangedFields } from './pod/changed-fields';

const PATH = 'spec.ephemeralContainers';

/** Containers that have come stay as they are; a patch may put them in any order. */
function validateAdditions(
  containers: readonly EphemeralContainer[],
  old: readonly EphemeralContainer[],
): readonly FieldError[] {
  const byName = new Map(containers.map((container) => [container.name, container]));
  return checkEach(old, (before) => {
    const { name = '' } = before;
    const container = byName.get(name);
    const existing = `existing ephemeral containers ${JSON.stringify(name)}`;
    if (container === undefined) return [forbiddenField(PATH, `${existing} may not be removed\n`)];
    return checkInSteps(function* () {
      const changes = yield* describeChangedFields(container, before, 'core.EphemeralContainer');
      return changes === undefined ? [] : [forbiddenField(PATH, `${existing} may not be changed\n${changes}`)];
    });
  });
}

/** What may be done through pods/ephemeralcontainers: containers are added to a pod that the API server knows first. */
export function validateEphemeralContainersUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const { metadata, spec = {} } = object as Pod;
  const { spec: oldSpec = {} } = old as Pod;
  if (old.metadata.annotations?.[MIRROR_POD_ANNOTATION] !== undefined) {
    return [forbiddenField('', 'static pods do not support ephemeral containers')];
  }
  return [
    ...validatePod(object),
    ...validatePodAnnotationsUpdate(metadata.annotations, old.metadata.annotations, spec, 'metadata.annotations'),
    ...validateAdditions(spec.ephemeralContainers ?? [], oldSpec.ephemeralContainers ?? []),
  ];
}
