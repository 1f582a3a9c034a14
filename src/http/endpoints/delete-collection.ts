import type { Endpoint } from './endpoint';
import { parseDeleteOptions } from '../request/delete-options';
import { parseCollectionOptions } from '../request/list-options';
import { admissionHooks } from './admission-hooks';
import { operationOf, scopeOf } from './resource-request';

/** Deletes what a list with the same parameters would give, and answers that list. */
export const deleteObjects: Endpoint = async (request, dependencies) => {
  const { context, served } = request;
  const { list } = parseCollectionOptions(context.info, served, dependencies.features);
  const { options, dryRun, object } = await parseDeleteOptions(context, dependencies.catalogue.schema);
  const admission = admissionHooks(request, dependencies, object, dryRun);
  const result = await request.registry.deleteCollection(
    scopeOf(request),
    list,
    options,
    { admit: (current) => admission.delete(current) },
    operationOf(request, dryRun),
  );
  return { type: 'list', result, served };
};
