import type { KubeObject } from '../../api/object';
import type { CertificateRequest } from '../../pki/certificate-request';
import { isStatus, startController, type Controller, type ControllerParts } from '../controller';
import { kubeletClientProblem } from './signer-rules';
import { isUndecided, parsedRequest, REQUESTS_PATH, SIGNERS, specOf, statusOf, withCondition } from './signing-request';

/** What is approved without people, and which permission its requester needs for that. */
interface Recognizer {
  readonly isMeant: (request: KubeObject, parsed: CertificateRequest) => boolean;
  /** `create` of this subresource of certificatesigningrequests. */
  readonly subresource: string;
  readonly message: string;
}

function isNodeClient(request: KubeObject, parsed: CertificateRequest): boolean {
  const { signerName, usages } = specOf(request);
  return signerName === SIGNERS.kubeletClient && kubeletClientProblem(parsed, usages ?? []) === undefined;
}

const RECOGNIZERS: readonly Recognizer[] = [
  {
    isMeant: (request, parsed) => isNodeClient(request, parsed) && specOf(request).username === parsed.commonName,
    subresource: 'selfnodeclient',
    message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
  },
  {
    isMeant: isNodeClient,
    subresource: 'nodeclient',
    message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
  },
];

/** Approves the certificates of kubelets as clients, when who asks may have one (spec, "Built-in signers"). */
export function startCertificateApproving(parts: ControllerParts): Controller {
  return startController(
    'certificate-approving',
    parts,
    ({ client, signal, queue, follow }) => {
      const waiting = new Map<string, KubeObject>();
      const mayHave = async (request: KubeObject, subresource: string): Promise<boolean> => {
        const { username, uid, groups, extra } = specOf(request);
        const resourceAttributes = {
          group: 'certificates.k8s.io',
          resource: 'certificatesigningrequests',
          verb: 'create',
          version: '*',
          subresource,
        };
        const review = await client.create<{ readonly status?: { readonly allowed?: boolean } }>(
          '/apis/authorization.k8s.io/v1/subjectaccessreviews',
          { spec: { user: username, uid, groups, extra, resourceAttributes } },
          signal,
        );
        return review.status?.allowed === true;
      };
      follow({
        path: `${REQUESTS_PATH}?fieldSelector=${encodeURIComponent(`spec.signerName=${SIGNERS.kubeletClient}`)}`,
        keep: ({ metadata: { name = '', resourceVersion = '' } }) => ({ metadata: { name, resourceVersion } }),
        changed: (request) => {
          const { name = '' } = request.metadata;
          if (!isUndecided(request) || statusOf(request).certificate) return void waiting.delete(name);
          waiting.set(name, request);
          queue.add(name);
        },
        deleted: ({ metadata: { name = '' } }) => waiting.delete(name),
      });
      return async (name) => {
        const request = waiting.get(name);
        const parsed = request && parsedRequest(request);
        if (request === undefined || parsed === undefined) return;
        const meant = RECOGNIZERS.filter(({ isMeant }) => isMeant(request, parsed));
        for (const { subresource, message } of meant) {
          if (!(await mayHave(request, subresource))) continue;
          const approved = withCondition(request, { type: 'Approved', reason: 'AutoApproved', message });
          await client.update(`${REQUESTS_PATH}/${encodeURIComponent(name)}/approval`, approved, signal);
          return;
        }
        // The permission may come later: people grant it when they see the request.
        if (meant.length > 0) throw new NotPermittedError();
      };
    },
    { isExpected: (error) => error instanceof NotPermittedError || isStatus(error, 409) },
  );
}

/** Who asks for the certificate may not have it now. */
class NotPermittedError extends Error {}
