import { whenKnown, type MaybePromise } from '../../api/maybe-promise';
import { ANONYMOUS_USER } from '../../api/user';
import type { LongRunningRequests } from '../../flowcontrol/long-running-requests';
import type { WorkSources } from '../../flowcontrol/work-estimate';
import type { RequestMetrics } from '../../observability/request-metrics';
import { beginAudit, recordReceived } from './audit';
import { authorizeRequest } from './authorization';
import { credentialsOf } from './credentials';
import type { RequestContext } from '../request/context';
import type { Deadlines } from './deadline';
import type { ChainDependencies } from './chain-dependencies';
import { impersonate } from './impersonation';
import { admitLongRunning } from './long-running';
import { measureRequest, type KnownPaths } from './measure';
import { refuseUnderPressure } from './memory-pressure';
import { parseRequestInfo, type RequestInfo } from '../request/request-info';
import { acquireFairSeat, acquireSeat } from './seats';

export interface FilterDependencies extends Omit<ChainDependencies, 'requestTimeoutMs'> {
  readonly deadlines: Deadlines;
  readonly metrics?: RequestMetrics;
  readonly known: KnownPaths;
  readonly workSources: WorkSources<RequestInfo>;
  readonly longRunning: LongRunningRequests;
}

/** The audit annotation with the trace of a request that is traced. */
const TRACE_ANNOTATION = 'sternpost/trace-id';

function headerText(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** One step of every request. Refuses by throwing; what must happen afterwards it leaves with `context.onFinished`. */
export type Filter = (context: RequestContext, dependencies: FilterDependencies) => MaybePromise<void>;

/** The only reader of the URL: later steps ask for verb and resource. */
const requestInfo: Filter = (context) => {
  context.info = parseRequestInfo(context.request.method ?? 'GET', context.request.url ?? '/');
};

const deadline: Filter = (context, { deadlines }) => deadlines.start(context);

const measure: Filter = (context, { metrics, known }) => {
  if (metrics !== undefined) measureRequest(context, metrics, known);
};

const log: Filter = (context, { logRequest }) => logRequest?.(context);

/** Before the log, which tells the trace. */
const span: Filter = (context, { tracing }) => {
  if (tracing === undefined) return;
  const { info, request } = context;
  context.trace = tracing.begin({
    // Paths outside of the resources are a stranger's words.
    name: info.isResourceRequest ? `${info.verb} ${info.resource}` : `HTTP ${request.method ?? ''}`,
    traceParent: headerText(request.headers['traceparent']),
    method: request.method ?? '',
    path: info.path,
  });
  if (context.trace !== undefined) {
    context.onFinished(() => context.trace?.end({ 'http.response.status_code': context.statusCode }));
  }
};

/** Before authentication, which leaves annotations. */
const audit: Filter = (context, { auditor }) => {
  if (auditor === undefined) return;
  beginAudit(context, auditor);
  if (context.trace !== undefined) context.annotate(TRACE_ANNOTATION, context.trace.traceId);
};

/** Under the name of who asks, not of whom it wants to act as. */
const auditReceived: Filter = (context, { auditor }) => {
  if (auditor !== undefined) return recordReceived(context, auditor);
};

const authenticate: Filter = (context, dependencies) => {
  const user = dependencies.authenticate(credentialsOf(context.request), (key, value) => context.annotate(key, value));
  return whenKnown(user, (known) => {
    context.user = known;
    if (known.name !== ANONYMOUS_USER) context.request.trustClient?.();
    // No server behind this one gets to see the client's token. Deleting it would turn the headers into a hash table.
    context.request.headers.authorization = undefined;
  });
};

const impersonation: Filter = (context, { authorize }) => impersonate(context, authorize);

/** Before flow control: what is refused here needs no seat. */
const memoryPressure: Filter = refuseUnderPressure;

const flowControl: Filter = (context, { fairness, maxInFlight, deadlines, workSources }) => {
  if (fairness !== undefined) return acquireFairSeat(context, fairness, workSources);
  if (maxInFlight !== undefined) acquireSeat(context, maxInFlight, deadlines.seatsOf);
};

/** Before the body is read: a stranger cannot make the server parse. */
const authorization: Filter = (context, { authorize }) => authorizeRequest(context, authorize);

/** After authorization: who may not watch takes no room. */
const longRunning: Filter = (context, dependencies) => admitLongRunning(context, dependencies.longRunning);

/** A request's way, in order. */
export const filters: readonly Filter[] = [
  requestInfo,
  deadline,
  measure,
  span,
  log,
  audit,
  authenticate,
  auditReceived,
  impersonation,
  memoryPressure,
  flowControl,
  authorization,
  longRunning,
];

/** Runs the filters from the given one on; those that have nothing to wait for cost no turn of the loop. */
export function runFilters(context: RequestContext, dependencies: FilterDependencies, from = 0): MaybePromise<void> {
  for (let index = from; index < filters.length; index++) {
    const filter = filters[index]!;
    const { trace } = context;
    const pending =
      trace === undefined
        ? filter(context, dependencies)
        : trace.within(filter.name, () => filter(context, dependencies));
    if (pending !== undefined) return pending.then(() => runFilters(context, dependencies, index + 1));
  }
}
