import type { UserInfo } from '../api/user';

/** A question to the server's authorizers about a resource. */
export interface AccessQuestion {
  readonly user: UserInfo;
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

export type Authorize = (question: AccessQuestion) => Promise<{ readonly allowed: boolean; readonly reason: string }>;
