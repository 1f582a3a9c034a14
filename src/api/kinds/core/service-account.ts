import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import { defineKind } from '../define-kind';
import type { KubeObject } from '../../object';
import { listAt, stringAt } from '../field-values';
import { actionSubresource } from '../subresources';

/** An account's secrets are of its own namespace, so that only their names mean something. */
function keepSecretNames(object: KubeObject): KubeObject {
  if (!Array.isArray(object['secrets'])) return object;
  const secrets = listAt(object, 'secrets').map((reference) => {
    const name = stringAt(reference, 'name');
    return name === '' ? {} : { name };
  });
  return { ...object, secrets };
}

export const serviceAccount = defineKind({
  group: '',
  kind: 'ServiceAccount',
  resource: 'serviceaccounts',
  shortNames: ['sa'],
  namespaced: true,
  versions: ['v1'],
  strategy: { prepareForCreate: keepSecretNames, prepareForUpdate: keepSecretNames },
  subresources: [actionSubresource('token', 'authentication.k8s.io', 'v1', 'TokenRequest')],
  deleteReturnsObject: true,
  table: tableOf([
    nameColumn,
    column('Secrets', 'How many secrets the account may use.', (object) => listAt(object, 'secrets').length),
    ageColumn,
  ]),
});
