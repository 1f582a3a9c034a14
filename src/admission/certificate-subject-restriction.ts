import { asn1, type asn1 as Asn1 } from 'node-forge';
import { MASTERS_GROUP } from '../api/user';
import { refuse, type AdmissionPlugin } from './plugin';

const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';
const OID_ORGANIZATION = '2.5.4.10';
const PEM = /-----BEGIN CERTIFICATE REQUEST-----([^-]*)-----END CERTIFICATE REQUEST-----/;

function childrenOf(node: Asn1.Asn1 | undefined): readonly Asn1.Asn1[] {
  if (node === undefined || typeof node.value === 'string') throw new Error('malformed certificate request');
  return node.value;
}

/** The organizations of a PKCS#10 request's subject, from the base64 of its PEM. Throws when it is not one. */
function organizationsOf(request: string): readonly string[] {
  const body = PEM.exec(Buffer.from(request, 'base64').toString('latin1'))?.[1];
  if (body === undefined) throw new Error('PEM block type must be CERTIFICATE REQUEST');
  const outer = asn1.fromDer(Buffer.from(body, 'base64').toString('latin1'));
  // CertificationRequest: info, algorithm, signature; its info: version, subject, key, attributes (RFC 2986).
  const subject = childrenOf(childrenOf(outer)[0])[1];
  return childrenOf(subject)
    .flatMap(childrenOf)
    .map((attribute) => childrenOf(attribute))
    .filter(([oid]) => typeof oid?.value === 'string' && asn1.derToOid(oid.value) === OID_ORGANIZATION)
    .map(([, value]) => (typeof value?.value === 'string' ? Buffer.from(value.value, 'latin1').toString('utf8') : ''));
}

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
      organizations = organizationsOf(spec.request ?? '');
    } catch (error) {
      throw refuse(attributes, `failed to parse CSR: ${(error as Error).message}`);
    }
    if (organizations.includes(MASTERS_GROUP)) {
      throw refuse(attributes, `use of ${CLIENT_SIGNER} signer with ${MASTERS_GROUP} group is not allowed`);
    }
  },
};
