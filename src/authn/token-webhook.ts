import { keysOf } from '../api/parts';
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
  readonly authenticated?: boolean | null;
  readonly user?: {
    readonly username?: string | null;
    readonly uid?: string | null;
    readonly groups?: readonly string[] | null;
    readonly extra?: Readonly<Record<string, readonly string[] | null>> | null;
  } | null;
  readonly audiences?: readonly string[] | null;
  readonly error?: string | null;
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
      status = readResponse(await post(review), version);
    } catch (error) {
      // A broken peer may send back what it was sent.
      const failure = new WebhookFailure((error as Error).message.replaceAll(token, '[hidden]'));
      failed(failure);
      throw failure;
    }
    if (status.authenticated !== true) {
      return status.error == null || status.error === '' ? undefined : { refused: status.error };
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

function userOf({ user }: ReviewStatus): UserInfo {
  const { username, uid, groups, extra } = user ?? {};
  const extras = Object.entries(extra ?? {}).map(([key, values]) => [key, values ?? []] as const);
  return {
    name: username ?? '',
    ...(uid == null || uid === '' ? {} : { uid }),
    groups: groups ?? [],
    ...(extras.length === 0 ? {} : { extra: Object.fromEntries(extras) }),
  };
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText);
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of a status and of its user, with what their values must be; null is as good as none. */
const STATUS_FIELDS = {
  authenticated: (value: unknown) => typeof value === 'boolean',
  error: isText,
  audiences: isTextList,
  user: isMap,
};
const USER_FIELDS = {
  username: isText,
  uid: isText,
  groups: isTextList,
  extra: (value: unknown) =>
    isMap(value) && keysOf(value).every((name) => value[name] === null || isTextList(value[name])),
};

/** Who the user is depends on every field: one of another type makes the reply worthless. */
function checkTypes(of: string, map: unknown, fields: Readonly<Record<string, (value: unknown) => boolean>>): void {
  if (map == null) return;
  if (!isMap(map)) throw new Error(`json: cannot unmarshal ${typeof map} into field ${of}`);
  for (const [name, fits] of Object.entries(fields)) {
    const value = map[name] ?? undefined;
    if (value !== undefined && !fits(value)) {
      throw new Error(`json: cannot unmarshal ${typeof value} into field ${of}.${name}`);
    }
  }
}

/** Each request of a user goes through all groups: with more it would hold up others. */
const MAX_GROUPS = 10_000;
const MAX_EXTRA_VALUES = 10_000;

/** Before the types are looked at, of which there may be too many. */
function checkSize(user: unknown): void {
  if (!isMap(user)) return;
  const { groups, extra } = user;
  if (Array.isArray(groups) && groups.length > MAX_GROUPS) {
    throw new Error(`the user has more than ${MAX_GROUPS} groups`);
  }
  if (!isMap(extra)) return;
  let values = 0;
  for (const name of keysOf(extra)) {
    const list = extra[name];
    values += 1 + (Array.isArray(list) ? list.length : 0);
    if (values > MAX_EXTRA_VALUES) throw new Error(`the user has more than ${MAX_EXTRA_VALUES} extra values`);
  }
}

/** A reply that names no type is taken. */
function readResponse(response: unknown, version: ReviewVersion): ReviewStatus {
  if (typeof response !== 'object' || response === null) throw new Error('the reply is not an object');
  const {
    apiVersion = '',
    kind = '',
    status,
  } = response as {
    readonly apiVersion?: string;
    readonly kind?: string;
    readonly status?: ReviewStatus | null;
  };
  const wanted = `authentication.k8s.io/${version}`;
  if ((apiVersion !== '' && apiVersion !== wanted) || (kind !== '' && kind !== 'TokenReview')) {
    const got = `${apiVersion.slice(apiVersion.indexOf('/') + 1)}.${kind}`;
    throw new Error(`converting (${got}) to (${version}.TokenReview): unknown conversion`);
  }
  checkTypes('status', status, STATUS_FIELDS);
  checkSize(status?.user);
  checkTypes('status.user', status?.user, USER_FIELDS);
  return status ?? {};
}
