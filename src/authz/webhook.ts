import { TtlCache } from '../api/time/ttl-cache';
import type { Attributes, Authorization, Authorizer } from './attributes';

export type ReviewVersion = 'v1' | 'v1beta1';

export interface WebhookAuthorizerOptions {
  /** The version of SubjectAccessReview that is sent, and that the reply must have. */
  readonly version: ReviewVersion;
  /** How long a permission and a refusal are believed, in milliseconds. 0: not at all. */
  readonly allowedTtlMs: number;
  readonly refusedTtlMs: number;
  /** Sends a review and returns the reply's JSON. Throws an error whose message says what went wrong. */
  readonly post: (review: object) => Promise<unknown>;
  /** Milliseconds, never going back. */
  readonly clock: () => number;
}

/** Answers that are remembered; the least recently used go first. */
const MAX_REMEMBERED = 8192;
/** Questions longer than this are not remembered: the client chose them. */
const MAX_QUESTION_CHARACTERS = 10_000;

/**
 * `--authorization-mode=Webhook`: asks a remote authorizer with a SubjectAccessReview. A peer that fails has no opinion,
 * and its error is told; such an answer is not remembered.
 */
export function webhookAuthorizer(options: WebhookAuthorizerOptions): Authorizer {
  const remembered = new TtlCache<Authorization>(MAX_REMEMBERED, options.clock);
  return async (attributes) => {
    const spec = specOf(attributes, options.version);
    const question = JSON.stringify(spec);
    const known = remembered.get(question);
    if (known !== undefined) return known;
    let response: Authorization;
    try {
      response = readResponse(await options.post(reviewOf(spec, options.version)), options.version);
    } catch (error) {
      return { decision: 'no-opinion', reason: '', error: (error as Error).message };
    }
    const ttl = response.decision === 'allow' ? options.allowedTtlMs : options.refusedTtlMs;
    if (question.length <= MAX_QUESTION_CHARACTERS) remembered.set(question, response, ttl);
    return response;
  };
}

function reviewOf(spec: object, version: ReviewVersion): object {
  return {
    kind: 'SubjectAccessReview',
    apiVersion: `authorization.k8s.io/${version}`,
    metadata: { creationTimestamp: null },
    spec,
    status: { allowed: false },
  };
}

/** v1beta1 calls the groups `group`. */
function specOf({ user, ...attributes }: Attributes, version: ReviewVersion): object {
  const { extra = {}, uid = '', groups, name } = user;
  const groupsField = version === 'v1' ? 'groups' : 'group';
  return {
    ...(attributes.resourceRequest
      ? {
          resourceAttributes: present({
            namespace: attributes.namespace,
            verb: attributes.verb,
            group: attributes.group,
            version: attributes.version,
            resource: attributes.resource,
            subresource: attributes.subresource,
            name: attributes.name,
          }),
        }
      : { nonResourceAttributes: present({ path: attributes.path, verb: attributes.verb }) }),
    ...present({ user: name }),
    ...(groups.length === 0 ? {} : { [groupsField]: groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
    ...present({ uid }),
  };
}

function present(fields: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}

/** Throws when the reply is no review of the version that was asked in; a reply that names no type is taken. */
function readResponse(response: unknown, version: ReviewVersion): Authorization {
  if (typeof response !== 'object' || response === null) throw new Error('the reply is not an object');
  const review = response as {
    readonly apiVersion?: string;
    readonly kind?: string;
    readonly status?: object | null;
  };
  const { apiVersion = '', kind = '' } = review;
  const wanted = `authorization.k8s.io/${version}`;
  if ((apiVersion !== '' && apiVersion !== wanted) || (kind !== '' && kind !== 'SubjectAccessReview')) {
    const got = `${apiVersion.slice(apiVersion.indexOf('/') + 1)}.${kind}`;
    throw new Error(`converting (${got}) to (${version}.SubjectAccessReview): unknown conversion`);
  }
  const status = review.status ?? {};
  const allowed = typed(status, 'allowed', 'boolean') ?? false;
  const denied = typed(status, 'denied', 'boolean') ?? false;
  const reason = typed(status, 'reason', 'string') ?? '';
  if (allowed && denied) throw new Error('webhook subject access review returned both allow and deny response');
  return { decision: allowed ? 'allow' : denied ? 'deny' : 'no-opinion', reason };
}

interface TypeOf {
  readonly boolean: boolean;
  readonly string: string;
}

/** A field of the status; undefined for none. Throws for one of another type: `"false"` must not pass for a yes. */
function typed<Type extends keyof TypeOf>(status: object, name: string, type: Type): TypeOf[Type] | undefined {
  const value = (status as Readonly<Record<string, unknown>>)[name] ?? undefined;
  if (value !== undefined && typeof value !== type) {
    throw new Error(`json: cannot unmarshal ${typeof value} into field status.${name} of type ${type}`);
  }
  return value as TypeOf[Type] | undefined;
}
