import {
  CertificateRequestError,
  parseCertificateRequest,
  type CertificateRequest,
} from '../../../pki/certificate-request';
import type { KubeObject } from '../../object';
import { LEGACY_SIGNER } from '../../validation/signer-name';
import { isPlainMap, listAt, mapAt, stringAt } from '../field-values';
import { withFields } from '../strategies';

const KUBELET_CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet';
const KUBELET_SERVING_SIGNER = 'kubernetes.io/kubelet-serving';
const DEFAULT_USAGES = ['digital signature', 'key encipherment'];
const NODES_GROUP = 'system:nodes';
const NODE_PREFIX = 'system:node:';

function hasExactly(usages: readonly unknown[], wanted: readonly string[]): boolean {
  return new Set(usages).size === wanted.length && wanted.every((usage) => usages.includes(usage));
}

/** The signer that kubelets mean, told by what they ask for. */
function signerOf(request: CertificateRequest, usages: readonly unknown[]): string {
  const { organizations, commonName, dnsNames, ipAddresses, emailAddresses, uris } = request;
  const isNode = organizations.length === 1 && organizations[0] === NODES_GROUP && commonName.startsWith(NODE_PREFIX);
  if (!isNode || emailAddresses.length > 0 || uris.length > 0) return LEGACY_SIGNER;
  const hasAddress = dnsNames.length > 0 || ipAddresses.length > 0;
  if (hasAddress && hasExactly(usages, [...DEFAULT_USAGES, 'server auth'])) return KUBELET_SERVING_SIGNER;
  return !hasAddress && hasExactly(usages, [...DEFAULT_USAGES, 'client auth']) ? KUBELET_CLIENT_SIGNER : LEGACY_SIGNER;
}

function defaultSigner(request: string, usages: readonly unknown[]): string {
  try {
    return signerOf(parseCertificateRequest(Buffer.from(request, 'base64').toString('latin1')), usages);
  } catch (error) {
    if (error instanceof CertificateRequestError) return LEGACY_SIGNER;
    throw error;
  }
}

/** v1beta1 fills in what v1 wants to be told. */
export function defaultSigningRequest(object: KubeObject, version: string): KubeObject {
  if (version !== 'v1beta1') return object;
  const spec = mapAt(object, 'spec');
  const usages = Array.isArray(spec['usages']) ? listAt(spec, 'usages') : DEFAULT_USAGES;
  const signerName = spec['signerName'] ?? defaultSigner(stringAt(spec, 'request'), usages);
  const defaulted = withFields(object, 'spec', { signerName, usages });
  const conditions = listAt(object, 'status', 'conditions');
  if (conditions.length === 0) return defaulted;
  return withFields(defaulted, 'status', {
    conditions: conditions.map((condition) =>
      isPlainMap(condition) && stringAt(condition, 'status') === '' ? { ...condition, status: 'True' } : condition,
    ),
  });
}
