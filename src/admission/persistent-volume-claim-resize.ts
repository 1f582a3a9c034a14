import type { KubeObject } from '../api/object';
import { compareQuantities, parseQuantity } from '../api/quantity/quantity';
import { refuse, type AdmissionPlugin } from './plugin';

interface Claim {
  readonly storageClassName?: string;
  readonly resources?: { readonly requests?: { readonly storage?: string } };
}

const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

function classOf(claim: KubeObject): string {
  return claim.metadata.annotations?.[CLASS_ANNOTATION] ?? (claim.spec as Claim | undefined)?.storageClassName ?? '';
}

function sizeOf(claim: KubeObject) {
  return parseQuantity((claim.spec as Claim | undefined)?.resources?.requests?.storage ?? '0');
}

/** PersistentVolumeClaimResize: a claim grows only when it is bound and its storage class lets volumes grow. */
export function persistentVolumeClaimResize(
  getStorageClass: (name: string) => KubeObject | undefined,
): AdmissionPlugin {
  return {
    name: 'PersistentVolumeClaimResize',
    operations: ['UPDATE'],
    resources: ['persistentvolumeclaims'],
    validate: async (attributes) => {
      const { object, oldObject } = attributes;
      if (object === undefined || oldObject === undefined) return;
      if (compareQuantities(sizeOf(object), sizeOf(oldObject)) <= 0) return;
      if ((oldObject.status as { readonly phase?: string } | undefined)?.phase !== 'Bound') {
        throw refuse(attributes, 'Only bound persistent volume claims can be expanded');
      }
      const name = classOf(object);
      const expandable =
        name !== '' && name === classOf(oldObject) && getStorageClass(name)?.allowVolumeExpansion === true;
      if (expandable) return;
      throw refuse(
        attributes,
        'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
      );
    },
  };
}
