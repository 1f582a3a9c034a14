import {
  apply,
  trackUpdate,
  type ApplyOptions,
  type FieldManagerOptions,
  type UpdateOptions,
} from '../api/apply/field-manager';
import { isRetiredKind } from '../api/kinds/retired-kinds';
import { withoutManagedFields } from '../api/apply/managed-fields';
import type { JsonObject, KubeObject } from '../api/object';
import { apiVersionOf, parseApiVersion } from '../api/object';
import { ConversionsInOrder, type RemoteConversion } from '../api/conversion-needed';
import type { Steps } from '../api/parts';
import * as inSteps from '../api/steps/generated/apply/field-manager';
import { formatTime } from '../api/time/rfc3339';
import type { Catalogue, ServedResource } from './served-resource';

export interface TrackedUpdate {
  readonly served: ServedResource;
  readonly live: KubeObject | undefined;
  readonly updated: KubeObject;
  readonly manager: string;
  /** Where a webhook converts: what it has been asked in the runs before. */
  readonly conversions?: ConversionsInOrder;
}

export interface AppliedConfiguration {
  readonly served: ServedResource;
  readonly live: KubeObject | undefined;
  readonly applied: KubeObject;
  readonly manager: string;
  readonly force: boolean;
  readonly conversions?: ConversionsInOrder;
}

type Writing = Pick<TrackedUpdate, 'served' | 'manager' | 'conversions'>;

/** Who owns which field of an object (spec, "Field ownership"). Objects are in the requested version. */
export interface FieldOwnership {
  /** `updated` with its managedFields brought up to date. Never refuses. */
  trackUpdate(change: TrackedUpdate): KubeObject;
  /** The same for a large object. */
  trackUpdateInSteps(change: TrackedUpdate): Steps<KubeObject>;
  /**
   * The merge of an applied configuration into what is there; its types are yet to be checked. Throws 400 for a
   * configuration that does not fit, 409 with all conflicts unless forced. Absent: nothing can be applied.
   */
  readonly apply?: (change: AppliedConfiguration) => KubeObject;
  /** The same for large objects; present where `apply` is. */
  readonly applyInSteps?: (change: AppliedConfiguration) => Steps<KubeObject>;
}

/** With the feature gate ServerSideApply off: nothing is owned, whatever clients send and whatever was owned before. */
export const noFieldOwnership: FieldOwnership = {
  trackUpdate: ({ updated }) => withoutManagedFields(updated),
  // eslint-disable-next-line require-yield
  *trackUpdateInSteps({ updated }) {
    return withoutManagedFields(updated);
  },
};

/** `now`: milliseconds since the epoch. */
export function fieldOwnership(catalogue: Catalogue, now: () => number): FieldOwnership {
  const optionsOf = ({ served, manager, conversions }: Writing): FieldManagerOptions => {
    const { definition, version, type, custom } = served;
    const { group } = version;
    const convert = versionConverter(catalogue, served, conversions);
    return {
      type,
      gvk: { group, version: version.version, kind: definition.kind },
      manager,
      now: formatTime(now() / 1000),
      custom,
      ...(version.remote === undefined ? {} : { convertedByWebhook: true }),
      ...(convert === undefined ? {} : { convert }),
    };
  };
  const updateOf = (change: TrackedUpdate): UpdateOptions => ({
    live: change.live,
    object: throughStorage(change.served, change.updated),
    ...optionsOf(change),
  });
  const applyOf = (change: AppliedConfiguration): ApplyOptions => ({
    live: change.live,
    applied: change.applied as unknown as JsonObject,
    force: change.force,
    ...optionsOf(change),
  });
  return {
    trackUpdate: (change) => {
      const { updated } = change;
      if (isUnowned(change)) return withoutManagedFields(updated);
      const options = updateOf(change);
      const tracked = trackUpdate(options);
      return options.object === updated ? tracked : withOwnersOf(updated, tracked);
    },
    *trackUpdateInSteps(change) {
      const { updated } = change;
      if (isUnowned(change)) return withoutManagedFields(updated);
      const options = updateOf(change);
      const tracked = yield* inSteps.trackUpdate(options);
      return options.object === updated ? tracked : withOwnersOf(updated, tracked);
    },
    apply: (change) => apply(applyOf(change)).object,
    *applyInSteps(change) {
      return (yield* inSteps.apply(applyOf(change))).object;
    },
  };
}

/** Some kinds have owners only once they have been applied. */
function isUnowned({ served, live }: TrackedUpdate): boolean {
  return served.definition.ownedOnceApplied === true && (live?.metadata.managedFields ?? []).length === 0;
}

/** What contradicts itself does not come through conversion, and is for validation to see. */
function withOwnersOf(object: KubeObject, { metadata: { managedFields } }: KubeObject): KubeObject {
  if (managedFields === undefined) return withoutManagedFields(object);
  return { ...object, metadata: { ...object.metadata, managedFields } };
}

/**
 * What the object says once it has been stored: annotations that stand for fields (autoscalers of v1) have no owner when
 * they say nothing.
 */
function throughStorage({ version: { convert } }: ServedResource, object: KubeObject): KubeObject {
  if (convert === undefined) return object;
  const { kind, apiVersion } = object;
  return {
    ...convert.fromStorage(convert.toStorage(object)),
    ...(kind === undefined ? {} : { kind }),
    ...(apiVersion === undefined ? {} : { apiVersion }),
  };
}

/** To the versions in which other managers wrote; absent for kinds of one shape. */
function versionConverter(
  catalogue: Catalogue,
  served: ServedResource,
  conversions: ConversionsInOrder | undefined,
): FieldManagerOptions['convert'] {
  const { definition, version: requested } = served;
  if (requested.remote !== undefined) return remoteConverter(requested.remote, catalogue, served, conversions);
  if (definition.versions.every(({ convert }) => convert === undefined)) return sameShapeConverter(catalogue, served);
  return (object, apiVersion) => {
    const { group, version } = parseApiVersion(apiVersion);
    // The core group and the others do not know each other's types: events forget who wrote them in the other group.
    if ((group === '') !== (requested.group === '')) return undefined;
    const target = knownVersion(catalogue, served, group, version);
    if (target === undefined) return undefined;
    const from = object.apiVersion === undefined ? requested : versionOf(served, object.apiVersion);
    const stored = from?.convert?.toStorage(object) ?? object;
    const converted = target.version.convert?.fromStorage(stored) ?? stored;
    return { type: target.type, object: { ...converted, apiVersion } };
  };
}

/** The same where all versions have the same shape, retired ones included. */
function sameShapeConverter(catalogue: Catalogue, served: ServedResource): FieldManagerOptions['convert'] {
  const { definition, type } = served;
  return (object, apiVersion) => {
    const { group, version } = parseApiVersion(apiVersion);
    const isKnown =
      knownVersion(catalogue, served, group, version) !== undefined ||
      isRetiredKind({ group, version, kind: definition.kind });
    return isKnown ? { type, object } : undefined;
  };
}

/** The same where a webhook converts. */
function remoteConverter(
  remote: RemoteConversion,
  catalogue: Catalogue,
  served: ServedResource,
  conversions = new ConversionsInOrder(),
): FieldManagerOptions['convert'] {
  const { definition, version: requested } = served;
  conversions.begin();
  const ownVersion = apiVersionOf(requested.group, requested.version);
  return (object, apiVersion) => {
    const { group, version } = parseApiVersion(apiVersion);
    const target = knownVersion(catalogue, served, group, version);
    if (target === undefined) return undefined;
    const typed = { ...object, kind: definition.kind, apiVersion: object.apiVersion ?? ownVersion };
    if (typed.apiVersion === apiVersion) return { type: target.type, object: typed };
    return { type: target.type, object: conversions.known(remote, typed, apiVersion) };
  };
}

/** A version of the kind; one that is switched off is known from when objects were written in it. */
function knownVersion(
  catalogue: Catalogue,
  { definition, custom }: ServedResource,
  group: string,
  version: string,
): Pick<ServedResource, 'version' | 'type'> | undefined {
  const found = catalogue.resolve(group, version, definition.resource);
  if (found !== undefined || custom) return found;
  const known = definition.versions.find((one) => one.group === group && one.version === version);
  const type = known && catalogue.schema.kind(group, version, definition.kind);
  return type && { version: known, type };
}

function versionOf({ definition }: ServedResource, apiVersion: string): ServedResource['version'] | undefined {
  return definition.versions.find(({ group, version }) => apiVersionOf(group, version) === apiVersion);
}
