import { randomUUID } from 'node:crypto';
import type { MaybePromise } from '../../api/maybe-promise';
import { PATCH_ANNOTATION_PREFIX } from '../../admission/webhooks/mutation-annotations';
import type { Auditor } from '../../audit/auditor';
import { annotationsInSteps } from '../../audit/annotation-steps';
import { TRUNCATED_ANNOTATION, type AuditEvent, type ObjectReference, type ResponseStatus } from '../../audit/event';
import { microTime } from '../../audit/micro-time';
import type { Steps } from '../../api/parts';
import { recordedRequest, recordedResponse, type RecordedText } from '../../audit/recorded-body';
import type { AuditStage, AuditVerdict } from '../../audit/policy';
import type { AuditedContext, RequestContext } from '../request/context';
import { NOT_RECORDED } from '../response/recorded-response';
import type { HttpResponse } from '../transport/exchange';
import { PlainTextError } from '../response/refusals';
import { isLongRunning } from './deadline';
import { sourceAddresses } from './source-addresses';

const MAX_AUDIT_ID = 64;
const MAX_USER_AGENT = 1024;
/** kube-apiserver's word for the answer to a watch, whichever way it ends. */
const STREAM_STATUS: ResponseStatus = { status: 'Success', message: 'Connection closed early', code: 200 };
const NO_ANNOTATIONS: ReadonlyMap<string, string> = new Map();

/** Has annotations kept, and records how the request ended. */
export function beginAudit(context: RequestContext, auditor: Auditor): void {
  context.audited = true;
  context.onFinished(() => {
    if (context.audit !== undefined) void (context.audit as RequestAudit).completed();
    else if (context.user === undefined && context.statusCode === 401) recordUnauthenticated(context, auditor);
  });
}

/**
 * Decides what is recorded of the request and records that it has come. Throws a 500 when that cannot be kept and must be. In mode
 * `blocking` of a webhook the request waits for it.
 */
export function recordReceived(context: RequestContext, auditor: Auditor): MaybePromise<void> {
  const verdict = auditor.verdictOn(context.info, context.user);
  if (verdict.level === 'None') {
    context.audited = false;
    return;
  }
  const audit = new RequestAudit(context, auditor, verdict);
  context.audit = audit;
  if (auditor.holdsResponses) holdResponse(context, audit);
  context.response.setHeader('Audit-Id', audit.id);
  const kept = audit.record('RequestReceived');
  if (kept === true) return;
  const check = (known: boolean): void => {
    if (known) return;
    auditor.recordRejection();
    const uri = JSON.stringify(context.request.url ?? '');
    throw new PlainTextError(500, `Internal Server Error: ${uri}: failed to store audit event\n`);
  };
  return kept === false ? check(false) : kept.then(check);
}

/** The client has the end of its answer, mostly all of it, when the backend has the last event. */
function holdResponse({ response }: RequestContext, audit: RequestAudit): void {
  const end = response.end.bind(response) as (...parts: readonly unknown[]) => void;
  const held = (...parts: readonly unknown[]): HttpResponse => {
    const kept = audit.completed();
    if (typeof kept === 'boolean') end(...parts);
    else void kept.then(() => (response.destroyed ? undefined : end(...parts)));
    return response;
  };
  response.end = held;
}

/** One event, without a user: nothing has been done for the request. */
function recordUnauthenticated(context: RequestContext, auditor: Auditor): void {
  const verdict = auditor.verdictOn(context.info, undefined);
  if (verdict.level !== 'None') void new RequestAudit(context, auditor, verdict).record('ResponseStarted');
}

/** The events of one request. */
class RequestAudit implements AuditedContext {
  readonly id: string;
  readonly recordsResponse: boolean;
  readonly #sourceIPs: readonly string[];
  readonly #userAgent: string;
  readonly #received: string;
  #hasStarted = false;
  #isComplete = false;

  constructor(
    private readonly context: RequestContext,
    private readonly auditor: Auditor,
    private readonly verdict: AuditVerdict,
  ) {
    const { headers, socket } = context.request;
    const sent = headers['audit-id'];
    this.id = typeof sent === 'string' && sent !== '' ? sent.slice(0, MAX_AUDIT_ID) : randomUUID();
    this.recordsResponse = verdict.level === 'RequestResponse';
    this.#sourceIPs = sourceAddresses(headers, socket.remoteAddress);
    this.#userAgent = shortened(headers['user-agent'] ?? '');
    this.#received = microTime(Date.now() - (performance.now() - context.receivedAt));
  }

  started(): void {
    this.#hasStarted = true;
    void this.record('ResponseStarted');
  }

  /** Once, when the answer ends or the client is gone. */
  completed(): MaybePromise<boolean> {
    if (this.#isComplete) return true;
    this.#isComplete = true;
    if (!this.#hasStarted && isLongRunning(this.context)) this.started();
    return this.record(this.context.panicked ? 'Panic' : 'ResponseComplete');
  }

  record(stage: AuditStage): MaybePromise<boolean> {
    if (this.verdict.omitStages.has(stage)) return true;
    const { event, request, response } = this.#event(stage);
    const annotations = annotationsInSteps(event.annotations);
    if (annotations === undefined && typeof request === 'string' && typeof response === 'string') {
      return this.auditor.record({ ...event, requestObject: request, responseObject: response });
    }
    return this.auditor.recordLater(completeEvent(event, request, response, annotations));
  }

  #event(stage: AuditStage): EventInParts {
    const { context, verdict } = this;
    const { level, omitManagedFields } = verdict;
    const { info, user, impersonator } = context;
    const isOver = stage !== 'RequestReceived';
    const request =
      isOver && (level === 'Request' || this.recordsResponse)
        ? recordedRequest(context.requestObject, info, omitManagedFields)
        : '';
    const tooLong = this.recordsResponse && context.responseText === NOT_RECORDED;
    const response = isOver && this.recordsResponse && !tooLong ? this.#responseObject(omitManagedFields) : '';
    const event = {
      level,
      auditID: this.id,
      stage,
      requestURI: context.request.url ?? '',
      verb: info.verb,
      user: impersonator ?? user,
      impersonatedUser: impersonator === undefined ? undefined : user,
      sourceIPs: this.#sourceIPs,
      userAgent: this.#userAgent,
      objectRef: info.isResourceRequest ? referenceOf(context, isOver) : undefined,
      responseStatus: isOver ? statusOf(context) : undefined,
      requestReceivedTimestamp: this.#received,
      stageTimestamp: isOver ? microTime(Date.now()) : this.#received,
      annotations: this.#annotations(tooLong),
    };
    return { event, request, response };
  }

  #responseObject(omitManagedFields: boolean): RecordedText {
    const { context } = this;
    const { responseText, responseObject, info } = context;
    return recordedResponse(responseText, responseObject, info, omitManagedFields);
  }

  #annotations(tooLong: boolean): ReadonlyMap<string, string> {
    let annotations = this.context.auditAnnotations;
    if (this.verdict.level === 'Metadata') annotations = withoutPatches(annotations);
    return tooLong ? new Map([...annotations, [TRUNCATED_ANNOTATION, 'true']]) : annotations;
  }
}

/** An event but for the texts of its objects, which may be long. */
interface EventInParts {
  readonly event: Omit<AuditEvent, 'requestObject' | 'responseObject'>;
  readonly request: RecordedText;
  readonly response: RecordedText;
}

function* completeEvent(
  event: EventInParts['event'],
  request: RecordedText,
  response: RecordedText,
  annotations: Steps<void> | undefined,
): Steps<AuditEvent> {
  if (annotations !== undefined) yield* annotations;
  const requestObject = typeof request === 'string' ? request : yield* request;
  const responseObject = typeof response === 'string' ? response : yield* response;
  return { ...event, requestObject, responseObject };
}

/** They are told from the level Request on. */
function withoutPatches(annotations: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  if (annotations.size === 0) return NO_ANNOTATIONS;
  for (const key of annotations.keys()) {
    if (!key.startsWith(PATCH_ANNOTATION_PREFIX)) continue;
    return new Map([...annotations].filter(([name]) => !name.startsWith(PATCH_ANNOTATION_PREFIX)));
  }
  return annotations;
}

function shortened(userAgent: string): string {
  return userAgent.length > MAX_USER_AGENT ? `${userAgent.slice(0, MAX_USER_AGENT)}...TRUNCATED` : userAgent;
}

interface SentObject {
  readonly metadata?: {
    readonly name?: unknown;
    readonly namespace?: unknown;
    readonly uid?: unknown;
    readonly resourceVersion?: unknown;
  } | null;
}

/** What the URL leaves open is taken from the object that was sent. */
function referenceOf({ info, requestObject }: RequestContext, isOver: boolean): ObjectReference {
  const { resource, namespace, name, group, version, subresource } = info;
  const sent =
    isOver && !Buffer.isBuffer(requestObject) ? (requestObject as SentObject | undefined)?.metadata : undefined;
  return {
    resource,
    namespace: namespace || textOf(sent?.namespace),
    name: name || textOf(sent?.name),
    uid: textOf(sent?.uid),
    apiGroup: group,
    apiVersion: version,
    resourceVersion: textOf(sent?.resourceVersion),
    subresource,
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function statusOf({ statusCode, responseObject, info }: RequestContext): ResponseStatus {
  if (info.verb === 'watch' && statusCode === 200) return STREAM_STATUS;
  const status = responseObject as
    { readonly kind?: string; readonly status?: unknown; readonly reason?: unknown } | undefined;
  if (status?.kind !== 'Status') return { status: undefined, message: undefined, reason: undefined, code: statusCode };
  return {
    status: textOf(status.status) || undefined,
    message: undefined,
    reason: textOf(status.reason) || undefined,
    code: statusCode,
  };
}
