import { parseFieldPath, type FieldPath } from './field-path';

/** Where kinds have a pod or the template of one: its `metadata` and its `spec` stand under this path. */
export const POD_PATHS: Readonly<Record<string, FieldPath>> = {
  Pod: [],
  PodTemplate: ['template'],
  ...Object.fromEntries(
    ['ReplicationController', 'DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet', 'Job'].map((kind) => [
      kind,
      parseFieldPath('spec.template'),
    ]),
  ),
  CronJob: parseFieldPath('spec.jobTemplate.spec.template'),
};
