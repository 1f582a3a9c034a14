import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../api/object';
import type { Authorize } from './authorize';
import type { AdmissionPlugin } from './plugin';
import { checkSignerPermission } from './signer-permission';

interface RequestStatus {
  readonly certificate?: string;
  readonly conditions?: readonly object[];
}

function statusOf(object: KubeObject | undefined): RequestStatus {
  return object?.status ?? {};
}

/** CertificateSigning: who puts a certificate or a condition into a request's status needs the signer's permission. */
export function certificateSigning(authorize: Authorize): AdmissionPlugin {
  return {
    name: 'CertificateSigning',
    operations: ['UPDATE'],
    resources: ['certificatesigningrequests.certificates.k8s.io/status'],
    validate: async (attributes) => {
      const status = statusOf(attributes.object);
      const old = statusOf(attributes.oldObject);
      const same =
        (status.certificate ?? '') === (old.certificate ?? '') &&
        isDeepStrictEqual(status.conditions ?? [], old.conditions ?? []);
      if (!same) await checkSignerPermission(attributes, 'sign', authorize);
    },
  };
}
