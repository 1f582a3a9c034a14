import type { KubeObject } from '../../api/object';
import type { Preconditions, UpdateHooks, WriteResult } from '../../registry/types';
import type { EndpointDependencies, ResourceRequest } from '../dependencies';
import { wireFormOf } from '../wire-form';
import type { WriteOptions } from '../write-options';
import { admissionHooks } from './admission-hooks';
import { operationOf, scopeOf, toStorage } from './resource-request';

/** How an update, a patch and an apply differ: in what they make of the object that is there. */
export interface Change {
  /**
   * From the object as it stands, in the requested version, to the wanted one with its fields' owners. Undefined: there
   * is none. Called again when another write came in between.
   */
  readonly compute: (live: KubeObject | undefined) => KubeObject;
  readonly preconditions?: Preconditions;
  readonly retryOnConflict: boolean;
  readonly createIfMissing?: boolean;
}

/** Read, change, admit, compare and put: once for all writes to an object that may be there. */
export function changeObject(
  request: ResourceRequest,
  dependencies: EndpointDependencies,
  options: WriteOptions,
  change: Change,
): Promise<WriteResult> {
  const admission = admissionHooks(request, dependencies, options.object, options.dryRun);
  const form = wireFormOf(request.served);
  const hooks: UpdateHooks = {
    change: (current) => {
      const live = current === undefined ? undefined : form.convert(current);
      const wanted = toStorage(request, change.compute(live));
      return admission.mutate(current === undefined ? 'CREATE' : 'UPDATE', wanted, current);
    },
    validate: (object, old) => admission.validate(old === undefined ? 'CREATE' : 'UPDATE', object, old),
    retryOnConflict: change.retryOnConflict,
    ...(change.preconditions === undefined ? {} : { preconditions: change.preconditions }),
    ...(change.createIfMissing === undefined ? {} : { createIfMissing: change.createIfMissing }),
  };
  return admission.guard(() =>
    request.registry.update(
      scopeOf(request),
      request.context.info.name,
      hooks,
      operationOf(request, options.dryRun),
      request.subresource?.strategy,
    ),
  );
}
