import type { AuthenticateRequest } from '../../authn/union';
import type { Auditor } from '../../audit/auditor';
import type { Authorizer } from '../../authz/attributes';
import type { MaxInFlight } from '../../flowcontrol/max-in-flight';
import type { Tracing } from '../../observability/tracing';
import type { PriorityAndFairness } from '../../flowcontrol/priority-and-fairness';
import type { RequestContext } from '../request/context';

/** The functions that the filters call. */
export interface ChainDependencies {
  /** Throws a 401 StatusError. */
  readonly authenticate: AuthenticateRequest;
  readonly authorize: Authorizer;
  /** Absent: nothing is audited. */
  readonly auditor?: Auditor | undefined;
  /** Writes down what came of the request. Absent: it is not recorded. */
  readonly logRequest?: ((context: RequestContext) => void) | undefined;
  /** Absent: nothing is traced. */
  readonly tracing?: Pick<Tracing, 'begin'> | undefined;
  /** Absent: no limits, unless there is priority and fairness. */
  readonly maxInFlight?: MaxInFlight | undefined;
  /** Absent: requests have no priorities. */
  readonly fairness?: PriorityAndFairness | undefined;
  readonly requestTimeoutMs: number;
}
