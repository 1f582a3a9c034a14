import { MASTERS_GROUP } from '../api/user';
import { requestedOrganizations } from '../pki/certificate-request';
import { refuse, type AdmissionPlugin } from './plugin';

const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';

/** CertificateSubjectRestriction: no client certificate is made for the group that may do everything. */
export const certificateSubjectRestriction: AdmissionPlugin = {
  name: 'CertificateSubjectRestriction',
  operations: ['CREATE'],
  resources: ['certificatesigningrequests.certificates.k8s.io'],
  validate: async (attributes) => {
    const spec = (attributes.object?.spec ?? {}) as { readonly signerName?: string; readonly request?: string };
    if (spec.signerName !== CLIENT_SIGNER) return;
    let organizations: readonly string[];
    try {
      organizations = requestedOrganizations(Buffer.from(spec.request ?? '', 'base64').toString('latin1'));
    } catch (error) {
      throw refuse(attributes, `failed to parse CSR: ${(error as Error).message}`);
    }
    if (organizations.includes(MASTERS_GROUP)) {
      throw refuse(attributes, `use of ${CLIENT_SIGNER} signer with ${MASTERS_GROUP} group is not allowed`);
    }
  },
};
