import type { CertificateRequest } from '../../pki/certificate-request';
import { SIGNERS, type SignerName } from './signing-request';

const NODES_GROUP = 'system:nodes';
const NODE_PREFIX = 'system:node:';
/** Of keys that cannot encipher others: those of ECDSA and Ed25519. */
const SIGNING_ONLY = ['digital signature'];
const SIGNING_AND_ENCIPHERING = ['digital signature', 'key encipherment'];

type Rule = (request: CertificateRequest, usages: readonly string[]) => string | undefined;

function hasExactly(usages: readonly string[], wanted: readonly string[]): boolean {
  return new Set(usages).size === wanted.length && wanted.every((usage) => usages.includes(usage));
}

function usagesProblem(usages: readonly string[], purpose: 'client auth' | 'server auth'): string | undefined {
  const wanted = [...SIGNING_AND_ENCIPHERING, purpose].sort();
  if (hasExactly(usages, wanted) || hasExactly(usages, [...SIGNING_ONLY, purpose])) return undefined;
  return `usages did not match [${wanted.join(' ')}]`;
}

function isOfNodes({ organizations }: CertificateRequest): boolean {
  return organizations.length === 1 && organizations[0] === NODES_GROUP;
}

const NOT_OF_NODES = 'subject organization is not system:nodes';
const NOT_A_NODE = 'subject common name does not begin with system:node:';

const kubeletServing: Rule = (request, usages) => {
  if (!isOfNodes(request)) return NOT_OF_NODES;
  const { dnsNames, ipAddresses, emailAddresses, uris, commonName } = request;
  if (dnsNames.length === 0 && ipAddresses.length === 0) return 'DNS or IP subjectAltName is required';
  if (emailAddresses.length > 0) return 'Email subjectAltNames are not allowed';
  if (uris.length > 0) return 'URI subjectAltNames are not allowed';
  return usagesProblem(usages, 'server auth') ?? (commonName.startsWith(NODE_PREFIX) ? undefined : NOT_A_NODE);
};

/** What is wrong with a request for the certificate of a kubelet as a client; undefined for a good one. */
export const kubeletClientProblem: Rule = (request, usages) => {
  if (!isOfNodes(request)) return NOT_OF_NODES;
  const { dnsNames, ipAddresses, emailAddresses, uris, commonName } = request;
  if (dnsNames.length > 0) return 'DNS subjectAltNames are not allowed';
  if (emailAddresses.length > 0) return 'Email subjectAltNames are not allowed';
  if (ipAddresses.length > 0) return 'IP subjectAltNames are not allowed';
  if (uris.length > 0) return 'URI subjectAltNames are not allowed';
  if (!commonName.startsWith(NODE_PREFIX)) return NOT_A_NODE;
  return usagesProblem(usages, 'client auth');
};

const client: Rule = (_request, usages) => {
  const foreign = usages.find((usage) => ![...SIGNING_AND_ENCIPHERING, 'client auth'].includes(usage));
  if (foreign !== undefined) return `invalid usage for client certificate: ${foreign}`;
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth';
};

/** What each signer wants of a request (spec, "Built-in signers"): the reason for which it fails one, or undefined. */
export const SIGNER_RULES: Readonly<Record<SignerName, Rule>> = {
  [SIGNERS.client]: client,
  [SIGNERS.kubeletClient]: kubeletClientProblem,
  [SIGNERS.kubeletServing]: kubeletServing,
  [SIGNERS.legacy]: () => undefined,
};
