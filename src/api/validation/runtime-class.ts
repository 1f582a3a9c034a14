import { duplicate, type FieldError } from '../errors/field-error';
import { stringAt } from '../kinds/field-values';
import type { KubeObject } from '../object';
import type { Toleration } from '../schema/generated/core-v1';
import type { Overhead, Scheduling } from '../schema/generated/node-v1';
import { validateUnchanged } from './immutable';
import { validateLabels } from './object-meta';
import { validateDnsLabel } from './pod/field-rules';
import { validateResourceRequirements } from './pod/resources';
import { tolerationLiteral, validateTolerations } from './pod/tolerations';
import { contentKey, repetitionsInOrder } from './repetitions';
import { checkEach } from './check-each';

function validateDuplicates(tolerations: readonly Toleration[], path: string): readonly FieldError[] {
  const isRepeated = repetitionsInOrder();
  return checkEach(tolerations, (toleration, index) =>
    isRepeated(contentKey(toleration))
      ? [{ ...duplicate(`${path}[${index}]`, ''), message: `Duplicate value: ${tolerationLiteral(toleration)}` }]
      : [],
  );
}

/** The paths of problems of a toleration name the list twice, and those of the overhead call it limits. */
function validateScheduling({ nodeSelector, tolerations }: Scheduling): readonly FieldError[] {
  return [
    ...validateLabels(nodeSelector, 'scheduling.nodeSelector'),
    ...validateTolerations(tolerations, 'scheduling.tolerations.tolerations'),
    ...validateDuplicates(tolerations ?? [], 'scheduling.tolerations'),
  ];
}

export function validateRuntimeClass(object: KubeObject): readonly FieldError[] {
  const { podFixed } = (object['overhead'] ?? {}) as Overhead;
  return [
    ...validateDnsLabel(stringAt(object, 'handler'), 'handler'),
    ...(podFixed ? validateResourceRequirements({ limits: podFixed }, 'overhead') : []),
    ...validateScheduling(object['scheduling'] ?? {}),
  ];
}

/** What pods run with cannot change under them. */
export function validateRuntimeClassUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  return [
    ...validateRuntimeClass(object),
    ...validateUnchanged(stringAt(object, 'handler'), stringAt(old, 'handler'), 'handler'),
  ];
}
