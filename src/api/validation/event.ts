import { invalid, required, type FieldError } from '../errors/field-error';
import type { RequestedVersion } from '../kinds/kind-definition';
import type { KubeObject } from '../object';
import type { Event } from '../schema/generated/core-v1';
import { dnsSubdomainName } from './names';
import { validateFinalizerDomains, validateObjectMeta, validateObjectMetaUpdate } from './object-meta';
import { validateQualifiedName } from './pod/field-rules';

const TEXT_MAX_LENGTH = 128;
const NOTE_MAX_LENGTH = 1024;
const TYPES = ['Normal', 'Warning'];
const STRICT_METADATA = { namespaced: true, validateName: dnsSubdomainName, unqualifiedFinalizers: false };

function asEvent(object: KubeObject): Event {
  return object;
}

function validateLength(text: string | undefined, limit: number, field: string): readonly FieldError[] {
  return (text ?? '').length > limit ? [invalid(field, '', `can have at most ${limit} characters`)] : [];
}

function namespaceMismatch(namespace: string): FieldError {
  return invalid('involvedObject.namespace', namespace, 'does not match event.namespace');
}

/** An event is in the namespace of what it is about; those about cluster-scoped objects are in `default`. */
function validatePlainEvent({ metadata, involvedObject }: Event): readonly FieldError[] {
  const namespace = metadata?.namespace ?? '';
  const { namespace: involved = '' } = involvedObject ?? {};
  const fits = involved === '' ? namespace === '' || namespace === 'default' : namespace === involved;
  return fits ? [] : [namespaceMismatch(involved)];
}

/** Events with an `eventTime` say who reports them, and what was done. */
function validateTimedEvent(event: Event): readonly FieldError[] {
  const { reportingComponent = '', reportingInstance = '', action = '', reason = '' } = event;
  const namespace = event.metadata?.namespace ?? '';
  const involved = event.involvedObject?.namespace ?? '';
  return [
    ...(involved === '' && namespace !== 'default' && namespace !== 'kube-system' ? [namespaceMismatch(involved)] : []),
    ...(reportingComponent === '' ? [required('reportingController', '')] : []),
    ...validateQualifiedName(reportingComponent, 'reportingController'),
    ...(reportingInstance === '' ? [required('reportingInstance', '')] : []),
    ...validateLength(reportingInstance, TEXT_MAX_LENGTH, 'reportingInstance'),
    ...(action === '' ? [required('action', '')] : []),
    ...validateLength(action, TEXT_MAX_LENGTH, 'action'),
    ...(reason === '' ? [required('reason', '')] : []),
    ...validateLength(reason, TEXT_MAX_LENGTH, 'reason'),
    ...validateLength(event.message, NOTE_MAX_LENGTH, 'message'),
  ];
}

/** The rules of all versions. */
function validateAnyEvent(event: Event): readonly FieldError[] {
  return event.eventTime ? validateTimedEvent(event) : validatePlainEvent(event);
}

function isStrict(requested: RequestedVersion | undefined): boolean {
  return requested?.group === 'events.k8s.io' && requested.version === 'v1';
}

function validateSeries({ series }: Event): readonly FieldError[] {
  if (!series) return [];
  return [
    ...((series.count ?? 0) < 2 ? [invalid('series.count', '', 'should be at least 2')] : []),
    ...(series.lastObservedTime ? [] : [required('series.lastObservedTime', '')]),
  ];
}

function unset(value: unknown, field: string): readonly FieldError[] {
  return value ? [invalid(field, '', 'needs to be unset')] : [];
}

/** events.k8s.io/v1 has strict rules, and none of the fields that others keep for old clients. */
export function validateEvent(object: KubeObject, requested?: RequestedVersion): readonly FieldError[] {
  const event = asEvent(object);
  const errors = validateAnyEvent(event);
  if (!isStrict(requested)) return errors;
  return [
    ...errors,
    ...validateObjectMeta(object.metadata, STRICT_METADATA),
    ...validateSeries(event),
    ...(event.eventTime ? [] : [required('eventTime', '')]),
    ...(TYPES.includes(event.type ?? '') ? [] : [invalid('type', '', `has invalid value: ${event.type ?? ''}`)]),
    ...unset(event.firstTimestamp, 'firstTimestamp'),
    ...unset(event.lastTimestamp, 'lastTimestamp'),
    ...unset(event.count, 'count'),
    ...unset(event.source?.component || event.source?.host, 'source'),
  ];
}

/** Most of the strict rules are those of new events; of a change they want that its metadata be sound. */
export function validateEventUpdate(
  object: KubeObject,
  old: KubeObject,
  requested?: RequestedVersion,
): readonly FieldError[] {
  const errors = validateAnyEvent(asEvent(object));
  if (!isStrict(requested)) return errors;
  const { metadata } = object;
  return [
    ...errors,
    ...validateObjectMetaUpdate(metadata, old.metadata),
    ...validateFinalizerDomains(metadata.finalizers, 'metadata.finalizers'),
  ];
}
