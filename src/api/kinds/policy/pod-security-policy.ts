import { column, nameColumn, tableOf } from '../../table/table';
import type { KubeObject } from '../../object';
import { validatePodSecurityPolicy } from '../../validation/pod-security-policy';
import { defineKind } from '../define-kind';
import { booleanAt, listAt, stringAt } from '../field-values';

function rule(field: string): (policy: KubeObject) => string {
  return (policy) => stringAt(policy, 'spec', field, 'rule');
}

export const podSecurityPolicy = defineKind({
  group: 'policy',
  kind: 'PodSecurityPolicy',
  resource: 'podsecuritypolicies',
  shortNames: ['psp'],
  namespaced: false,
  metadataOnUpdate: ['change'],
  versions: [{ version: 'v1beta1', lifecycle: { deprecated: '1.21', removed: '1.25' } }],
  errorGroup: 'extensions',
  strategy: { validateCreate: validatePodSecurityPolicy, validateUpdate: validatePodSecurityPolicy },
  storagePrefix: 'podsecuritypolicy',
  deleteReturnsObject: true,
  table: tableOf([
    nameColumn,
    column('Priv', 'Whether privileged pods may run.', (object) => String(booleanAt(object, 'spec', 'privileged'))),
    column('Caps', 'The capabilities that may be added.', (object) =>
      listAt(object, 'spec', 'allowedCapabilities').map(String).join(','),
    ),
    column('SELinux', 'Which SELinux labels may be set.', rule('seLinux')),
    column('RunAsUser', 'Which users containers may run as.', rule('runAsUser')),
    column('FsGroup', 'Which groups volumes may have.', rule('fsGroup')),
    column('SupGroup', 'Which supplemental groups may be used.', rule('supplementalGroups')),
    column('ReadOnlyRootFs', 'Whether the root file system must be read-only.', (object) =>
      booleanAt(object, 'spec', 'readOnlyRootFilesystem'),
    ),
    column('Volumes', 'The kinds of volumes that may be used.', (object) =>
      listAt(object, 'spec', 'volumes').map(String).join(','),
    ),
  ]),
});
