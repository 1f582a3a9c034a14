import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import type { KubeObject } from '../../object';
import { defineKind, textField } from '../define-kind';
import { listAt, stringAt } from '../field-values';
import { validateSigningRequest, validateSigningRequestUpdate } from '../../validation/certificate-signing-request';
import { pathSegmentName } from '../../validation/names';
import { statusSubresource, wholeObjectSubresource } from '../subresources';
import { defaultSigningRequest } from './signing-request-defaults';
import { keepSpecAndStatus, prepareApproval, prepareStatus, recordRequester } from './signing-request-strategy';

function condition(request: KubeObject): string {
  const types = listAt(request, 'status', 'conditions').map((item) => stringAt(item, 'type'));
  const decision = types.includes('Denied') ? 'Denied' : types.includes('Approved') ? 'Approved' : 'Pending';
  const failed = types.includes('Failed') ? ',Failed' : '';
  const issued = stringAt(request, 'status', 'certificate') === '' ? '' : ',Issued';
  return `${decision}${failed}${issued}`;
}

export const certificateSigningRequest = defineKind({
  group: 'certificates.k8s.io',
  kind: 'CertificateSigningRequest',
  resource: 'certificatesigningrequests',
  shortNames: ['csr'],
  namespaced: false,
  metadataOnUpdate: ['own', 'change'],
  versions: [
    'v1',
    {
      version: 'v1beta1',
      lifecycle: {
        deprecated: '1.19',
        removed: '1.22',
        replacement: 'certificates.k8s.io/v1 CertificateSigningRequest',
      },
    },
  ],
  storageVersion: 'v1beta1',
  validateName: pathSegmentName,
  applyDefaults: defaultSigningRequest,
  strategy: {
    prepareForCreate: recordRequester,
    prepareForUpdate: keepSpecAndStatus,
    validateCreate: validateSigningRequest,
    validateUpdate: validateSigningRequestUpdate({ decide: false, certify: false }),
  },
  subresources: [
    wholeObjectSubresource('approval', {
      prepareForUpdate: prepareApproval,
      metadataOnUpdate: ['own', 'change'],
      validateUpdate: validateSigningRequestUpdate({ decide: true, certify: false }),
    }),
    statusSubresource({
      prepareForUpdate: prepareStatus,
      metadataOnUpdate: ['own', 'change'],
      validateUpdate: validateSigningRequestUpdate({ decide: false, certify: true }),
    }),
  ],
  selectableFields: { 'spec.signerName': textField('spec', 'signerName') },
  table: tableOf([
    nameColumn,
    ageColumn,
    column('SignerName', 'The signer that is asked.', (object) => stringAt(object, 'spec', 'signerName') || '<none>'),
    column('Requestor', 'Who asks.', (object) => stringAt(object, 'spec', 'username')),
    column('Condition', 'What has been decided, and whether a certificate was issued.', condition),
  ]),
});
