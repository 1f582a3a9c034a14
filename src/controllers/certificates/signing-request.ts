import {
  CertificateRequestError,
  parseCertificateRequest,
  type CertificateRequest,
} from '../../pki/certificate-request';
import type { KubeObject } from '../../api/object';
import type {
  CertificateSigningRequestCondition as Condition,
  CertificateSigningRequestSpec as Spec,
  CertificateSigningRequestStatus as Status,
} from '../../api/schema/generated/certificates-v1';

export const REQUESTS_PATH = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

export const SIGNERS = {
  client: 'kubernetes.io/kube-apiserver-client',
  kubeletClient: 'kubernetes.io/kube-apiserver-client-kubelet',
  kubeletServing: 'kubernetes.io/kubelet-serving',
  legacy: 'kubernetes.io/legacy-unknown',
} as const;

export type SignerName = (typeof SIGNERS)[keyof typeof SIGNERS];

export function specOf({ spec }: KubeObject): Spec {
  return spec ?? {};
}

export function statusOf({ status }: KubeObject): Status {
  return status ?? {};
}

function has({ conditions }: Status, type: string): boolean {
  return (conditions ?? []).some((condition) => condition.type === type && condition.status === 'True');
}

/** Neither approved, denied nor failed. */
export function isUndecided(request: KubeObject): boolean {
  const { conditions } = statusOf(request);
  return !(conditions ?? []).some(({ type }) => type === 'Approved' || type === 'Denied');
}

/** It may be signed, and has not been. */
export function isToBeSigned(request: KubeObject): boolean {
  const status = statusOf(request);
  return has(status, 'Approved') && !has(status, 'Denied') && !has(status, 'Failed') && !status.certificate;
}

/** The request with one more condition, to be sent as its status or approval. */
export function withCondition(
  request: KubeObject,
  condition: Pick<Condition, 'type' | 'reason' | 'message'>,
): KubeObject {
  const status = statusOf(request);
  return {
    ...request,
    status: { ...status, conditions: [...(status.conditions ?? []), { ...condition, status: 'True' }] },
  };
}

/** Undefined for what is none: an older version let it in, and no signer can use it. */
export function parsedRequest(request: KubeObject): CertificateRequest | undefined {
  try {
    return parseCertificateRequest(Buffer.from(specOf(request).request ?? '', 'base64').toString('latin1'));
  } catch (error) {
    if (error instanceof CertificateRequestError) return undefined;
    throw error;
  }
}
