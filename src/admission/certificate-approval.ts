import type { Authorize } from './authorize';
import type { AdmissionPlugin } from './plugin';
import { checkSignerPermission } from './signer-permission';

/** CertificateApproval: who approves or denies a certificate request needs the permission for its signer. */
export function certificateApproval(authorize: Authorize): AdmissionPlugin {
  return {
    name: 'CertificateApproval',
    operations: ['UPDATE'],
    resources: ['certificatesigningrequests.certificates.k8s.io/approval'],
    validate: (attributes) => checkSignerPermission(attributes, 'approve', authorize),
  };
}
