import { StatusError } from '../../api/errors/status-error';
import type { KubeObject } from '../../api/object';
import { placedInScope } from '../../registry/identity';
import type { Endpoint, EndpointDependencies, ResourceRequest } from '../dependencies';
import { withoutDuplicateOwners } from '../owner-references';
import { entryReply } from '../reply';
import { managerName, parseWriteOptions } from '../write-options';
import { admissionHooks } from './admission-hooks';
import { decodeObjectOf } from './decode-request';
import { operationOf, scopeOf, toStorage } from './resource-request';

/** Decodes, owns, admits, stores; answers 201 with what was stored. */
export const createObject: Endpoint = async (request, dependencies) => {
  refuseTerminating(request);
  const { context, served } = request;
  const { object: sent, options } = await decodeObjectOf(request, dependencies, () =>
    parseWriteOptions(context.info.query, 'CreateOptions'),
  );
  const object = withoutDuplicateOwners(placedInScope(served.definition, scopeOf(request), sent), 'sent', context);
  const manager = managerName(options, context.request.headers['user-agent']);
  const owned = trackCreation(request, dependencies, object, manager);
  const admission = admissionHooks(request, dependencies, options.object, options.dryRun);
  const { entry } = await admission.guard(() =>
    request.registry.create(
      scopeOf(request),
      toStorage(request, owned),
      {
        mutate: (stored) => admission.mutate('CREATE', stored, undefined),
        validate: (stored) => admission.validate('CREATE', stored, undefined),
      },
      operationOf(request, options.dryRun),
    ),
  );
  return entryReply(201, entry, served);
};

function refuseTerminating({ served }: ResourceRequest): void {
  if (served.terminating !== true) return;
  const { group } = served.version;
  throw new StatusError(405, 'MethodNotAllowed', 'create not allowed while custom resource definition is terminating', {
    ...(group === '' ? {} : { group }),
    kind: served.definition.resource,
  });
}

function trackCreation(
  { served }: ResourceRequest,
  { fieldOwnership }: EndpointDependencies,
  updated: KubeObject,
  manager: string,
): KubeObject {
  return fieldOwnership?.trackUpdate({ served, live: undefined, updated, manager }) ?? updated;
}
