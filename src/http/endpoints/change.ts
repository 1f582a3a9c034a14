import { whenKnown, type MaybePromise } from '../../api/maybe-promise';
import type { Operation } from '../../admission/plugin';
import type { KubeObject } from '../../api/object';
import type { Preconditions, UpdateHooks, WriteResult } from '../../registry/types';
import type { EndpointDependencies, ResourceRequest } from './endpoint';
import { inItsTurn } from '../request/large-bodies';
import { wireFormOf } from '../response/wire-form';
import type { WriteOptions } from '../request/write-options';
import { admissionHooks } from './admission-hooks';
import { operationOf, scopeOf, toStorage } from './resource-request';

/** How an update, a patch and an apply differ: in what they make of the object that is there. */
export interface Change {
  /**
   * From the object as it stands, in the requested version, to the wanted one with its fields' owners. Undefined: there
   * is none. Called again when another write came in between.
   */
  readonly compute: (live: KubeObject | undefined) => MaybePromise<KubeObject>;
  readonly preconditions?: Preconditions;
  readonly retryOnConflict: boolean;
  readonly createIfMissing?: boolean;
  /** Absent: admission sees the whole object. */
  readonly seenAs?: SubresourceView;
}

/** For a subresource with a kind of its own: what admission sees of the object, which is in the storage version. */
export interface SubresourceView {
  /** What was last computed, as it was sent. */
  readonly sent: () => KubeObject;
  readonly of: (object: KubeObject) => KubeObject;
  /** The object with what admission made of its part. */
  readonly into: (object: KubeObject, seen: KubeObject) => KubeObject;
}

/** Read, change, admit, compare and put: once for all writes to an object that may be there. */
export function changeObject(
  request: ResourceRequest,
  dependencies: EndpointDependencies,
  options: WriteOptions,
  change: Change,
): Promise<WriteResult> {
  const { context } = request;
  const admission = admissionHooks(request, dependencies, options.object, options.dryRun);
  const form = wireFormOf(request.served);
  const { seenAs } = change;
  const see = (object: KubeObject | undefined) => (seenAs === undefined ? object : object && seenAs.of(object));
  const admitted = (operation: Operation, object: KubeObject, old: KubeObject | undefined): MaybePromise<KubeObject> =>
    seenAs === undefined
      ? admission.mutate(operation, object, old)
      : whenKnown(admission.mutate(operation, seenAs.sent(), see(old)), (seen) => seenAs.into(object, seen));
  const hooks: UpdateHooks = {
    change: (current) => {
      const live = current === undefined ? undefined : form.convert(current);
      const operation = current === undefined ? 'CREATE' : 'UPDATE';
      const computed = inItsTurn(context, () => change.compute(live));
      const mutated = whenKnown(computed, (wanted) =>
        inItsTurn(context, () => admitted(operation, toStorage(request, wanted), current)),
      );
      return context.givesWay ? whenKnown(mutated, (object) => inItsTurn(context, () => object)) : mutated;
    },
    validate: (object, old) => {
      const validated = admission.validate(old === undefined ? 'CREATE' : 'UPDATE', see(object), see(old));
      return context.givesWay ? whenKnown(validated, () => inItsTurn(context, () => undefined)) : validated;
    },
    retryOnConflict: change.retryOnConflict,
    ...(change.preconditions === undefined ? {} : { preconditions: change.preconditions }),
    ...(change.createIfMissing === undefined ? {} : { createIfMissing: change.createIfMissing }),
  };
  return admission.guard(() =>
    request.registry.update(
      scopeOf(request),
      context.info.name,
      hooks,
      operationOf(request, options.dryRun),
      request.subresource?.strategy,
    ),
  );
}
