import type { AdmissionPlugin } from './plugin';

const FINALIZERS: Readonly<Record<string, string>> = {
  persistentvolumes: 'kubernetes.io/pv-protection',
  persistentvolumeclaims: 'kubernetes.io/pvc-protection',
};

/** StorageObjectInUseProtection: volumes and claims stay until the controllers say that they are out of use. */
export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  operations: ['CREATE'],
  resources: Object.keys(FINALIZERS),
  mutate: async ({ resource, object }) => {
    const finalizer = FINALIZERS[resource];
    if (finalizer === undefined) return object;
    const finalizers = object.metadata.finalizers ?? [];
    if (finalizers.includes(finalizer)) return object;
    return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, finalizer] } };
  },
};
