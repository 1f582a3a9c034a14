import type { KubeObject } from '../../api/object';
import { signRequest, type RequestSigner } from '../../pki/sign-request';
import { startController, type Controller, type ControllerParts } from '../controller';
import { SIGNER_RULES } from './signer-rules';
import {
  isToBeSigned,
  parsedRequest,
  REQUESTS_PATH,
  specOf,
  statusOf,
  withCondition,
  type SignerName,
} from './signing-request';

export interface SigningOptions {
  /** The authorities, by the names of their signers; what is for others is left to others. */
  readonly signers: Readonly<Partial<Record<SignerName, RequestSigner>>>;
  /** How long a certificate holds at most. */
  readonly durationMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const MIN_LIFETIME_MS = 10 * 60_000;

/** What was asked for, within bounds. */
function lifetimeMs(request: KubeObject, longest: number): number {
  const { expirationSeconds } = specOf(request);
  return expirationSeconds == null ? longest : Math.min(Math.max(expirationSeconds * 1000, MIN_LIFETIME_MS), longest);
}

/**
 * The built-in signers: what has been approved is signed, or fails with the reason (spec, "CertificateSigningRequest").
 */
export function startCertificateSigning(
  parts: ControllerParts,
  { signers, durationMs, now }: SigningOptions,
): Controller {
  return startController('certificate-signing', parts, ({ client, signal, queue, follow }) => {
    const waiting = new Map<string, KubeObject>();
    const fulfil = (request: KubeObject, signerName: SignerName, signer: RequestSigner): KubeObject | undefined => {
      const parsed = parsedRequest(request);
      if (parsed === undefined) return undefined;
      const usages = specOf(request).usages ?? [];
      const problem = SIGNER_RULES[signerName](parsed, usages);
      if (problem !== undefined) {
        return withCondition(request, { type: 'Failed', reason: 'SignerValidationFailure', message: problem });
      }
      const certificate = signRequest(parsed, usages, signer, {
        now: now(),
        lifetimeMs: lifetimeMs(request, durationMs),
      });
      return { ...request, status: { ...statusOf(request), certificate: Buffer.from(certificate).toString('base64') } };
    };
    follow({
      path: REQUESTS_PATH,
      keep: ({ metadata: { name = '', resourceVersion = '' } }) => ({ metadata: { name, resourceVersion } }),
      changed: (request) => {
        const { name = '' } = request.metadata;
        if (!isToBeSigned(request) || !((specOf(request).signerName ?? '') in signers))
          return void waiting.delete(name);
        waiting.set(name, request);
        queue.add(name);
      },
      deleted: ({ metadata: { name = '' } }) => waiting.delete(name),
    });
    return async (name) => {
      const request = waiting.get(name);
      if (request === undefined) return;
      const signerName = specOf(request).signerName as SignerName;
      const signer = signers[signerName];
      const signed = signer && fulfil(request, signerName, signer);
      if (signed === undefined) return;
      await client.update(`${REQUESTS_PATH}/${encodeURIComponent(name)}/status`, signed, signal);
    };
  });
}
