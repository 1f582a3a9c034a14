import { nextGeneration } from '../api/next-generation';
import type { KindDefinition, RequestedVersion } from '../api/kinds/kind-definition';
import { withFields } from '../api/kinds/strategies';
import type { KubeObject, ObjectMeta } from '../api/object';
import { formatDate, formatTime } from '../api/time/rfc3339';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../api/validation/object-meta';
import type { DeleteOptions } from './types';

/** What a delete does to an object. */
export interface DeletionPlan {
  /** To be written first; undefined when the object is already as it should be. */
  readonly write: KubeObject | undefined;
  /** Whether the object goes then; else finalizers, a grace period or a controller hold it. */
  readonly remove: boolean;
}

const STAYS: DeletionPlan = { write: undefined, remove: false };

export interface DeletionContext {
  readonly definition: KindDefinition;
  readonly options: DeleteOptions;
  readonly requested: RequestedVersion | undefined;
  readonly now: Date;
}

/** The longest duration of Go, 292 years, in which kube-apiserver counts. */
const LONGEST_GRACE_SECONDS = 9_223_372_036;

/** Decides from the object as it stands. Pure: the caller checks preconditions, writes and removes. */
export function planDeletion(object: KubeObject, context: DeletionContext): DeletionPlan {
  const { definition, now } = context;
  const terminating = Boolean(object.metadata.deletionTimestamp);
  if (definition.prepareForDelete !== undefined && !terminating) {
    const marked = withFields(object, 'metadata', {
      deletionTimestamp: formatDate(now),
      ...(definition.firstDeleteIgnoresPolicy === true
        ? {}
        : { finalizers: collectorFinalizers(object.metadata, context) }),
    });
    return { write: definition.prepareForDelete(marked, formatDate(now)), remove: false };
  }
  if (definition.canRemove?.(object) === false) return STAYS;

  const graceful = definition.gracePeriodSeconds === undefined ? object : withGrace(object, context);
  if (graceful === 'pending') return STAYS;
  const finalizers = collectorFinalizers(graceful.metadata, context);
  const held = (finalizers ?? []).length > 0;
  const released =
    finalizers === graceful.metadata.finalizers ? graceful : withFields(graceful, 'metadata', { finalizers });
  const marked = held && graceful === object ? markedAsDeleting(released, now) : released;
  const running = graceful !== object && (graceful.metadata.deletionGracePeriodSeconds ?? 0) > 0;
  return { write: marked === object ? undefined : marked, remove: !held && !running };
}

/**
 * The object with its grace period set or shortened; the object itself when it is over; `pending` when it goes on as it
 * is, because a period is never prolonged.
 */
function withGrace(object: KubeObject, { definition, options, now }: DeletionContext): KubeObject | 'pending' {
  const { deletionTimestamp, deletionGracePeriodSeconds: running = 0 } = object.metadata;
  const requested = options.gracePeriodSeconds;
  if (deletionTimestamp) {
    if (running === 0) return object;
    if (requested === undefined || requested >= running) return 'pending';
    const begun = Date.parse(deletionTimestamp) / 1000 - bounded(running);
    return withFields(object, 'metadata', {
      deletionTimestamp: formatTime(begun + bounded(requested)),
      deletionGracePeriodSeconds: requested,
    });
  }
  const seconds = definition.gracePeriodSeconds?.(object, requested) ?? 0;
  return withFields(object, 'metadata', {
    deletionTimestamp: formatTime(now.getTime() / 1000 + bounded(seconds)),
    deletionGracePeriodSeconds: seconds,
    ...countedDeletion(object.metadata),
  });
}

/** Whatever a period says, its end is a time that can be written. */
function bounded(seconds: number | bigint): number {
  return Math.max(-LONGEST_GRACE_SECONDS, Math.min(Number(seconds), LONGEST_GRACE_SECONDS));
}

/** For objects that finalizers hold without a grace period. */
function markedAsDeleting(object: KubeObject, now: Date): KubeObject {
  const { deletionTimestamp, deletionGracePeriodSeconds } = object.metadata;
  const begun = Boolean(deletionTimestamp) && Date.parse(deletionTimestamp ?? '') <= now.getTime();
  if (begun && deletionGracePeriodSeconds === 0) return object;
  return withFields(object, 'metadata', {
    ...(begun ? {} : { deletionTimestamp: formatDate(now) }),
    deletionGracePeriodSeconds: 0,
    ...(deletionTimestamp ? {} : countedDeletion(object.metadata)),
  });
}

/** The wish to delete counts as a change of what a client wants, for kinds that count. */
function countedDeletion({ generation = 0 }: ObjectMeta): Pick<ObjectMeta, 'generation'> {
  return generation > 0 ? { generation: nextGeneration(generation) } : {};
}

/** The finalizers with those that tell the garbage collector what to do with dependents; the same list if no other. */
function collectorFinalizers(meta: ObjectMeta, context: DeletionContext): readonly string[] | undefined {
  const current = meta.finalizers ?? [];
  const wanted = collectorFinalizer(current, context);
  const others = current.filter((name) => name !== ORPHAN_FINALIZER && name !== FOREGROUND_FINALIZER);
  const next = wanted === undefined ? others : [...others, wanted];
  const same = next.length === current.length && next.every((name) => current.includes(name));
  return same ? meta.finalizers : next.length === 0 ? undefined : next;
}

/** What the client says counts first, then what stands in the object, then the kind's default. */
function collectorFinalizer(
  current: readonly string[],
  { definition, options, requested }: DeletionContext,
): string | undefined {
  if (definition.defaultGarbageCollection === 'unsupported') return undefined;
  if (options.orphanDependents !== undefined) return options.orphanDependents ? ORPHAN_FINALIZER : undefined;
  switch (options.propagationPolicy) {
    case 'Orphan':
      return ORPHAN_FINALIZER;
    case 'Foreground':
      return FOREGROUND_FINALIZER;
    case 'Background':
      return undefined;
    case undefined:
  }
  const present = current.find((name) => name === ORPHAN_FINALIZER || name === FOREGROUND_FINALIZER);
  return present ?? (orphansByDefault(definition, requested) ? ORPHAN_FINALIZER : undefined);
}

function orphansByDefault(definition: KindDefinition, requested: RequestedVersion | undefined): boolean {
  const version = definition.versions.find(
    ({ group, version }) => group === requested?.group && version === requested.version,
  );
  return (version?.defaultGarbageCollection ?? definition.defaultGarbageCollection) === 'orphan';
}
