import type { AuthenticateRequest } from '../../authn/union';
import type { Authorizer } from '../../authz/attributes';
import type { MaxInFlight } from '../../flowcontrol/max-in-flight';
import type { RequestContext } from '../request/context';

/** The functions that the filters call. */
export interface ChainDependencies {
  /** Throws a 401 StatusError. */
  readonly authenticate: AuthenticateRequest;
  readonly authorize: Authorizer;
  /** Registers with `context.onFinished` what it wants to write down, and sets the Audit-Id header. */
  readonly audit?: (context: RequestContext) => void;
  /** Writes down what came of the request. Absent: nobody does. */
  readonly logRequest?: ((context: RequestContext) => void) | undefined;
  /** Absent: no limits. */
  readonly maxInFlight?: MaxInFlight;
  readonly requestTimeoutMs: number;
}
