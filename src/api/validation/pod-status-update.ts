import { type FieldError } from '../errors/field-error';
import type { KubeObject } from '../object';
import type { Pod } from '../schema/generated/core-v1';
import { validatePodAnnotationsUpdate } from './pod/annotations';
import { validateDnsSubdomain } from './pod/field-rules';
import { validatePodIps, validateTransitions } from './pod/pod-status';

/** What a kubelet or a scheduler may report: little is checked, since it is an observation. */
export function validatePodStatusUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const { metadata, spec = {}, status = {} } = object as Pod;
  const { spec: oldSpec = {}, status: oldStatus = {} } = old as Pod;
  const { nominatedNodeName = '' } = status;
  const always = (oldSpec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const sidecars = new Set(always.map(({ name = '' }) => name));
  const transitions = (field: 'containerStatuses' | 'initContainerStatuses') =>
    validateTransitions(status[field], oldStatus[field], oldSpec, sidecars, `status.${field}`);
  return [
    ...validatePodAnnotationsUpdate(metadata.annotations, old.metadata.annotations, spec, 'metadata.annotations'),
    ...(nominatedNodeName === '' || nominatedNodeName === oldStatus.nominatedNodeName
      ? []
      : validateDnsSubdomain(nominatedNodeName, 'status.nominatedNodeName')),
    ...transitions('containerStatuses'),
    ...transitions('initContainerStatuses'),
    ...validatePodIps(status),
  ];
}
