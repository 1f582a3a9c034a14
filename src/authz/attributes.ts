import type { MaybePromise } from '../api/maybe-promise';
import type { UserInfo } from '../api/user';

/** What a request asks for, as an authorizer sees it (spec, "Authorization" 1). */
export interface Attributes {
  readonly user: UserInfo;
  /** `get`, `list`, `create` ...; for non-resource requests the lower-case HTTP method. */
  readonly verb: string;
  readonly resourceRequest: boolean;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** The URL's path, for non-resource requests. */
  readonly path: string;
}

export type Decision = 'allow' | 'deny' | 'no-opinion';

export interface Authorization {
  readonly decision: Decision;
  /** For the audit log, and for the client where it was refused. */
  readonly reason: string;
  /** Why the decision may be wrong: an authorizer that could not be asked. A refusal with it is a failure, not a 403. */
  readonly error?: string;
}

export type Authorizer = (attributes: Attributes) => MaybePromise<Authorization>;

/** Errors of several parties as one text: one alone as it is, several in brackets, each once. */
export function joinErrors(errors: readonly string[]): string {
  const distinct = [...new Set(errors)];
  return distinct.length > 1 ? `[${distinct.join(', ')}]` : (distinct[0] ?? '');
}
