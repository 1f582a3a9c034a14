import { ageOf } from '../../table/age';
import { column, nameColumn, tableOf, wideColumn } from '../../table/table';
import type { KubeObject } from '../../object';
import { validateEvent, validateEventUpdate } from '../../validation/event';
import { pathSegmentName } from '../../validation/names';
import { defineKind, textField } from '../define-kind';
import { isPlainMap, numberAt, stringAt } from '../field-values';
import { eventsGroupFromCore, eventsGroupToCore } from './event-conversion';

/** How long an event is kept, in seconds. */
const EVENT_TTL_SECONDS = 3600;

function timestamp(event: KubeObject, ...path: readonly string[]): string | undefined {
  return stringAt(event, ...path) || undefined;
}

function firstSeen(event: KubeObject, now: number): string {
  return ageOf(timestamp(event, 'firstTimestamp') ?? timestamp(event, 'eventTime'), now);
}

function lastSeen(event: KubeObject, now: number): string {
  if (isPlainMap(event['series'])) return ageOf(timestamp(event, 'series', 'lastObservedTime'), now);
  const last = timestamp(event, 'lastTimestamp');
  return last === undefined ? firstSeen(event, now) : ageOf(last, now);
}

function count(event: KubeObject): number {
  // The event itself is not counted in its series.
  if (isPlainMap(event['series'])) return numberAt(event, 'series', 'count') + 1;
  return numberAt(event, 'count') || 1;
}

function target(event: KubeObject): string {
  const kind = stringAt(event, 'involvedObject', 'kind').toLowerCase();
  const name = stringAt(event, 'involvedObject', 'name');
  return name === '' ? kind : `${kind}/${name}`;
}

function source(event: KubeObject): string {
  const component = stringAt(event, 'source', 'component') || stringAt(event, 'reportingComponent');
  const instance = stringAt(event, 'source', 'host') || stringAt(event, 'reportingInstance');
  return instance === '' ? component : `${component}, ${instance}`;
}

const REFERENCE_FIELDS = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const;

function referenceLabels(prefix: string): Readonly<Record<string, (event: KubeObject) => string>> {
  return Object.fromEntries(
    REFERENCE_FIELDS.map((field) => [`${prefix}.${field}`, textField('involvedObject', field)]),
  );
}

const eventsGroupLabels = {
  ...referenceLabels('regarding'),
  reason: textField('reason'),
  type: textField('type'),
  reportingController: textField('reportingComponent'),
};

const eventsGroupVersion = {
  group: 'events.k8s.io',
  convert: { toStorage: eventsGroupToCore, fromStorage: eventsGroupFromCore },
  selectableFields: eventsGroupLabels,
} as const;

/** One kind under two groups, whose fields have different names; stored as the core group has it. */
export const event = defineKind({
  group: '',
  kind: 'Event',
  resource: 'events',
  shortNames: ['ev'],
  namespaced: true,
  metadataOnUpdate: [],
  metadataCheckedLast: true,
  unqualifiedFinalizers: true,
  versions: [
    'v1',
    { ...eventsGroupVersion, version: 'v1' },
    { ...eventsGroupVersion, version: 'v1beta1', lifecycle: { deprecated: '1.22', removed: '1.25' } },
  ],
  selectableFields: {
    ...referenceLabels('involvedObject'),
    reason: textField('reason'),
    reportingComponent: textField('reportingComponent'),
    source: (object) => stringAt(object, 'source', 'component') || stringAt(object, 'reportingComponent'),
    type: textField('type'),
  },
  // Only the strictest of its versions wants more of a name.
  validateName: pathSegmentName,
  strategy: { validateCreate: validateEvent, validateUpdate: validateEventUpdate },
  defaultGarbageCollection: 'unsupported',
  allowCreateOnUpdate: true,
  watchCache: false,
  ttlSeconds: EVENT_TTL_SECONDS,
  table: tableOf([
    column('Last Seen', 'The time since it happened last.', lastSeen),
    column('Type', 'Normal, or Warning.', (object) => stringAt(object, 'type')),
    column('Reason', 'Why it happened, in a word.', (object) => stringAt(object, 'reason')),
    column('Object', 'What it happened to.', target),
    wideColumn('Subobject', 'The part of the object.', (object) => stringAt(object, 'involvedObject', 'fieldPath')),
    wideColumn('Source', 'Who reports it.', source),
    column('Message', 'What happened.', (object) => stringAt(object, 'message').trim()),
    wideColumn('First Seen', 'The time since it happened first.', firstSeen),
    wideColumn('Count', 'How often it happened.', count),
    { ...nameColumn, priority: 1 },
  ]),
});
