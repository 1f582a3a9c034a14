import { ageColumn, column, nameColumn, tableOf } from '../../table/table';
import { validateVolumeAttachment, validateVolumeAttachmentUpdate } from '../../validation/volume-attachment';
import { defineKind } from '../define-kind';
import type { WriteRequest } from '../kind-definition';
import { booleanAt, stringAt } from '../field-values';
import { keepSpecAndMetadata, keepStatus, resetStatus } from '../strategies';
import { statusSubresource } from '../subresources';

const withoutStatus = resetStatus({ attached: false });

/** v1beta1 writes the status with the object. */
function statusIsOpen(request: WriteRequest | undefined): boolean {
  return request?.requested?.version === 'v1beta1';
}

export const volumeAttachment = defineKind({
  group: 'storage.k8s.io',
  kind: 'VolumeAttachment',
  resource: 'volumeattachments',
  namespaced: false,
  metadataOnUpdate: ['own', 'own'],
  versions: [
    'v1',
    {
      version: 'v1beta1',
      lifecycle: { deprecated: '1.19', removed: '1.22', replacement: 'storage.k8s.io/v1 VolumeAttachment' },
      // Before v1 the status had no subresource and was written with the object.
      withoutSubresources: ['status'],
    },
    {
      version: 'v1alpha1',
      lifecycle: { deprecated: '1.21', removed: '1.24', replacement: 'storage.k8s.io/v1 VolumeAttachment' },
      // Nor is the status written with the object: this version only reads it.
      withoutSubresources: ['status'],
    },
  ],
  strategy: {
    prepareForCreate: (object, request) => (statusIsOpen(request) ? object : withoutStatus(object)),
    prepareForUpdate: (object, old, request) => (statusIsOpen(request) ? object : keepStatus(object, old)),
    validateCreate: validateVolumeAttachment,
    validateUpdate: validateVolumeAttachmentUpdate,
  },
  subresources: [statusSubresource({ prepareForUpdate: keepSpecAndMetadata })],
  allowUnconditionalUpdate: false,
  deleteReturnsObject: true,
  table: tableOf([
    nameColumn,
    column('Attacher', 'The driver that attaches the volume.', (object) => stringAt(object, 'spec', 'attacher'), {
      format: 'name',
    }),
    column('PV', 'The volume.', (object) => stringAt(object, 'spec', 'source', 'persistentVolumeName')),
    column('Node', 'The node to attach it to.', (object) => stringAt(object, 'spec', 'nodeName')),
    column('Attached', 'Whether it is attached.', (object) => booleanAt(object, 'status', 'attached'), {
      type: 'boolean',
    }),
    ageColumn,
  ]),
});
