import type { KubeObject } from '../../object';

/** Field names of the events.k8s.io group and of the core group. The other fields are named alike. */
const RENAMED: readonly (readonly [eventsGroup: string, core: string])[] = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['reportingController', 'reportingComponent'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
];

/** Fields that the core group always shows, with the values they have when nothing was said. */
const CORE_ALWAYS: Readonly<Record<string, unknown>> = {
  involvedObject: {},
  source: {},
  firstTimestamp: null,
  lastTimestamp: null,
  eventTime: null,
  reportingComponent: '',
  reportingInstance: '',
};

const EVENTS_GROUP_ALWAYS: Readonly<Record<string, unknown>> = {
  eventTime: null,
  regarding: {},
  deprecatedSource: {},
  deprecatedFirstTimestamp: null,
  deprecatedLastTimestamp: null,
};

const TO_CORE = new Map(RENAMED);
const TO_EVENTS_GROUP = new Map(RENAMED.map(([eventsGroup, core]) => [core, eventsGroup] as const));
/** Shown by the core group even when empty, omitted by the other. */
const OMITTED_WHEN_EMPTY = new Set(['reportingController', 'reportingInstance']);

function renamed(object: KubeObject, names: ReadonlyMap<string, string>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [names.get(name) ?? name, value]));
}

export function eventsGroupToCore(object: KubeObject): KubeObject {
  const { kind, apiVersion, metadata, ...fields } = renamed(object, TO_CORE);
  return { kind, apiVersion, metadata, ...CORE_ALWAYS, ...fields } as KubeObject;
}

export function eventsGroupFromCore(object: KubeObject): KubeObject {
  const { kind, apiVersion, metadata, ...fields } = renamed(object, TO_EVENTS_GROUP);
  const shown = Object.entries(fields).filter(([name, value]) => !(OMITTED_WHEN_EMPTY.has(name) && value === ''));
  return { kind, apiVersion, metadata, ...EVENTS_GROUP_ALWAYS, ...Object.fromEntries(shown) } as KubeObject;
}
