import { required, type FieldError } from '../errors/field-error';
import type { KubeObject } from '../object';
import { keysOf } from '../parts';
import type { ReplicationControllerSpec } from '../schema/generated/core-v1';
import { validateNonNegative } from './numbers';
import { validateReplicatedTemplate } from './replicated-template';

/** All problems of a replication controller's spec. */
export function validateReplicationController(object: KubeObject): readonly FieldError[] {
  const spec = (object['spec'] ?? {}) as ReplicationControllerSpec;
  const { selector = {}, template, replicas = 0 } = spec;
  return [
    ...validateNonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
    ...(keysOf(selector).length === 0 ? [required('spec.selector', '')] : []),
    ...validateNonNegative(replicas, 'spec.replicas'),
    ...(template === undefined
      ? [required('spec.template', '')]
      : validateReplicatedTemplate(
          template,
          { matchLabels: selector },
          replicas,
          'spec.template',
          'ReplicationController',
        )),
  ];
}

/** An update reports the problems of the spec twice. */
export function validateReplicationControllerUpdate(object: KubeObject): readonly FieldError[] {
  const errors = validateReplicationController(object);
  return [...errors, ...errors];
}
