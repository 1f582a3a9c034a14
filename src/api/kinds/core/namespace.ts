import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import {
  validateNamespace,
  validateNamespaceFinalize,
  validateNamespaceStatusUpdate,
  validateNamespaceUpdate,
} from '../../validation/namespace';
import { defineKind, textField } from '../define-kind';
import { stringAt } from '../field-values';
import { dnsLabelName } from '../../validation/names';
import { statusSubresource } from '../subresources';
import {
  defaultNamespace,
  finalizeNamespace,
  isNamespaceFinalized,
  prepareNamespaceForCreate,
  prepareNamespaceForDelete,
  prepareNamespaceForUpdate,
  prepareNamespaceStatus,
} from './namespace-strategy';

export const namespace = defineKind({
  group: '',
  kind: 'Namespace',
  resource: 'namespaces',
  shortNames: ['ns'],
  namespaced: false,
  metadataOnUpdate: ['own', 'change'],
  versions: ['v1'],
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  validateName: dnsLabelName,
  applyDefaults: defaultNamespace,
  strategy: {
    prepareForCreate: prepareNamespaceForCreate,
    prepareForUpdate: prepareNamespaceForUpdate,
    validateCreate: validateNamespace,
    validateUpdate: validateNamespaceUpdate,
  },
  subresources: [
    statusSubresource({ prepareForUpdate: prepareNamespaceStatus, validateUpdate: validateNamespaceStatusUpdate }),
    {
      name: 'finalize',
      verbs: ['update'],
      strategy: { prepareForUpdate: finalizeNamespace, validateUpdate: validateNamespaceFinalize },
    },
  ],
  selectableFields: { 'status.phase': textField('status', 'phase') },
  prepareForDelete: prepareNamespaceForDelete,
  canRemove: isNamespaceFinalized,
  deleteReturnsObject: true,
  table: tableOf([
    nameColumn,
    column('Status', 'Active, or Terminating while its contents are deleted.', (object) =>
      stringAt(object, 'status', 'phase'),
    ),
    ageColumn,
  ]),
});
