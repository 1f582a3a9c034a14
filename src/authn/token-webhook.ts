import type { UserInfo } from '../api/user';
import { commonAudiences } from './audiences';
import type { TokenAuthenticator } from './credentials';

export type ReviewVersion = 'v1' | 'v1beta1';

export interface TokenWebhookOptions {
  /** The version of TokenReview that is sent, and that the reply must have. */
  readonly version: ReviewVersion;
  /** Taken to be confirmed by a peer that names no audiences. */
  readonly audiences: readonly string[];
  /** Sends a review and returns the reply's JSON. Throws an error whose message says what went wrong. */
  readonly post: (review: object) => Promise<unknown>;
  /** Told of a peer that fails; the client only learns that it is not known. */
  readonly failed: (error: Error) => void;
}

interface ReviewStatus {
  readonly authenticated?: boolean;
  readonly user?: {
    readonly username?: string;
    readonly uid?: string;
    readonly groups?: readonly string[] | null;
    readonly extra?: Readonly<Record<string, readonly string[]>> | null;
  };
  readonly audiences?: readonly string[] | null;
  readonly error?: string;
}

/** A peer that could not be asked: unlike its refusals not to be remembered. */
export class WebhookFailure extends Error {}

/**
 * `--authentication-token-webhook-config-file`: asks a remote authenticator with a TokenReview (spec, "Authentication"
 * 2). A peer that fails, or answers in another version, is told to the log and throws a {@link WebhookFailure}.
 */
export function tokenWebhookAuthenticator(options: TokenWebhookOptions): TokenAuthenticator {
  const { version, post, failed } = options;
  const apiVersion = `authentication.k8s.io/${version}`;
  return async (token, wanted) => {
    const review = {
      kind: 'TokenReview',
      apiVersion,
      metadata: { creationTimestamp: null },
      spec: { token, ...(wanted.length === 0 ? {} : { audiences: wanted }) },
      status: { user: {} },
    };
    let status: ReviewStatus;
    try {
      status = readReply(await post(review), version);
    } catch (error) {
      failed(error as Error);
      throw new WebhookFailure((error as Error).message);
    }
    if (status.authenticated !== true) {
      return status.error === undefined || status.error === '' ? undefined : { refused: status.error };
    }
    const named = status.audiences != null && status.audiences.length > 0 ? status.audiences : options.audiences;
    const audiences = commonAudiences(wanted, named);
    if (audiences.length === 0 && wanted.length > 0) return undefined;
    return { user: userOf(status), audiences };
  };
}

/** For use around the cache, which does not keep what throws: a peer that fails is one who refuses. */
export function failuresAsRefusals(authenticate: TokenAuthenticator): TokenAuthenticator {
  return async (token, audiences) => {
    try {
      return await authenticate(token, audiences);
    } catch (error) {
      if (error instanceof WebhookFailure) return { refused: error.message };
      throw error;
    }
  };
}

function userOf({ user = {} }: ReviewStatus): UserInfo {
  const { username = '', uid = '', groups, extra } = user;
  return {
    name: username,
    ...(uid === '' ? {} : { uid }),
    groups: groups ?? [],
    ...(extra == null || Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

/** A reply that names no type is taken. */
function readReply(reply: unknown, version: ReviewVersion): ReviewStatus {
  if (typeof reply !== 'object' || reply === null) throw new Error('the reply is not an object');
  const {
    apiVersion = '',
    kind = '',
    status = {},
  } = reply as {
    readonly apiVersion?: string;
    readonly kind?: string;
    readonly status?: ReviewStatus;
  };
  const wanted = `authentication.k8s.io/${version}`;
  if ((apiVersion !== '' && apiVersion !== wanted) || (kind !== '' && kind !== 'TokenReview')) {
    const got = `${apiVersion.slice(apiVersion.indexOf('/') + 1)}.${kind}`;
    throw new Error(`converting (${got}) to (${version}.TokenReview): unknown conversion`);
  }
  return status;
}
