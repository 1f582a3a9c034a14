import type { UserInfo } from '../api/user';
import type { AuditLevel, AuditStage } from './policy';

/** The object that a request is about. */
export interface ObjectReference {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly resourceVersion: string;
  readonly subresource: string;
}

/** The part of a Status that is recorded: nothing of it grows with what the client has sent. */
export interface ResponseStatus {
  readonly status?: string | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly code: number;
}

/** One event of `audit.k8s.io/v1`. */
export interface AuditEvent {
  readonly level: AuditLevel;
  readonly auditID: string;
  readonly stage: AuditStage;
  readonly requestURI: string;
  readonly verb: string;
  /** Undefined: the request was not authenticated. */
  readonly user: UserInfo | undefined;
  readonly impersonatedUser: UserInfo | undefined;
  readonly sourceIPs: readonly string[];
  readonly userAgent: string;
  readonly objectRef: ObjectReference | undefined;
  readonly responseStatus: ResponseStatus | undefined;
  /** JSON texts; empty where there is none. */
  readonly requestObject: string;
  readonly responseObject: string;
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  readonly annotations: ReadonlyMap<string, string>;
}

/** In an event whose bodies were left out because they are too large. */
export const TRUNCATED_ANNOTATION = 'audit.k8s.io/truncated';

/** What goes before {@link printEvent} where an event stands alone. */
export const EVENT_HEAD = '{"kind":"Event","apiVersion":"audit.k8s.io/v1",';

/**
 * The JSON of an event from its level on, without the opening brace: in a list, kind and apiVersion are left out. Put together by
 * hand: it is made twice for every request.
 */
export function printEvent(event: AuditEvent): string {
  const { impersonatedUser, sourceIPs, userAgent, objectRef, responseStatus, requestObject, responseObject } = event;
  let text = `"level":"${event.level}","auditID":${JSON.stringify(event.auditID)},"stage":"${event.stage}"`;
  text += `,"requestURI":${JSON.stringify(event.requestURI)},"verb":${JSON.stringify(event.verb)}`;
  text += `,"user":${event.user === undefined ? '{}' : printUser(event.user)}`;
  if (impersonatedUser !== undefined) text += `,"impersonatedUser":${printUser(impersonatedUser)}`;
  if (sourceIPs.length > 0) text += `,"sourceIPs":["${sourceIPs.join('","')}"]`;
  if (userAgent !== '') text += `,"userAgent":${JSON.stringify(userAgent)}`;
  if (objectRef !== undefined) text += `,"objectRef":${printReference(objectRef)}`;
  if (responseStatus !== undefined) text += `,"responseStatus":${printStatus(responseStatus)}`;
  if (requestObject !== '') text += `,"requestObject":${requestObject}`;
  if (responseObject !== '') text += `,"responseObject":${responseObject}`;
  text += `,"requestReceivedTimestamp":"${event.requestReceivedTimestamp}","stageTimestamp":"${event.stageTimestamp}"`;
  return event.annotations.size === 0 ? `${text}}` : `${text},"annotations":${printAnnotations(event.annotations)}}`;
}

/** Users are the same objects again and again: those of token files and caches. */
const printedUsers = new WeakMap<UserInfo, string>();

function printUser(user: UserInfo): string {
  let text = printedUsers.get(user);
  if (text === undefined) {
    const { name, uid, groups, extra } = user;
    text = JSON.stringify({
      username: name,
      uid: uid || undefined,
      groups: groups.length === 0 ? undefined : groups,
      extra: extra !== undefined && Object.keys(extra).length > 0 ? extra : undefined,
    });
    printedUsers.set(user, text);
  }
  return text;
}

function printReference(reference: ObjectReference): string {
  const { resource, namespace, name, uid, apiGroup, apiVersion, resourceVersion, subresource } = reference;
  let text = `{"resource":${JSON.stringify(resource)}`;
  if (namespace !== '') text += `,"namespace":${JSON.stringify(namespace)}`;
  if (name !== '') text += `,"name":${JSON.stringify(name)}`;
  if (uid !== '') text += `,"uid":${JSON.stringify(uid)}`;
  if (apiGroup !== '') text += `,"apiGroup":${JSON.stringify(apiGroup)}`;
  if (apiVersion !== '') text += `,"apiVersion":${JSON.stringify(apiVersion)}`;
  if (resourceVersion !== '') text += `,"resourceVersion":${JSON.stringify(resourceVersion)}`;
  if (subresource !== '') text += `,"subresource":${JSON.stringify(subresource)}`;
  return `${text}}`;
}

function printStatus({ status, message, reason, code }: ResponseStatus): string {
  if (status === undefined && message === undefined && reason === undefined) return `{"metadata":{},"code":${code}}`;
  return JSON.stringify({ metadata: {}, status, message, reason, code });
}

/** Of events with many annotations, which are printed before the event is. */
const printedAnnotations = new WeakMap<ReadonlyMap<string, string>, string>();

/** What an event with these annotations has to say of them, as JSON. */
export function rememberPrinted(annotations: ReadonlyMap<string, string>, text: string): void {
  printedAnnotations.set(annotations, text);
}

function printAnnotations(annotations: ReadonlyMap<string, string>): string {
  const known = printedAnnotations.get(annotations);
  if (known !== undefined) return known;
  const keys = [...annotations.keys()].sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${JSON.stringify(annotations.get(key))}`).join(',')}}`;
}

/** Characters that it takes in memory, roughly. */
export function sizeOfEvent({ requestURI, requestObject, responseObject, annotations }: AuditEvent): number {
  let size = FIXED_SIZE + requestURI.length + requestObject.length + responseObject.length;
  for (const [key, value] of annotations) size += key.length + value.length;
  return size;
}

const FIXED_SIZE = 1024;
