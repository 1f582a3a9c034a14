import { StatusError } from '../../api/errors/status-error';
import { whenKnown } from '../../api/maybe-promise';
import { placedInScope } from '../../registry/identity';
import type { Endpoint, ResourceRequest } from './endpoint';
import { inItsTurn } from '../request/large-bodies';
import { withoutDuplicateOwners } from './owner-references';
import { entryResponse } from '../response/api-response';
import { managerName, parseWriteOptions } from '../request/write-options';
import { admissionHooks } from './admission-hooks';
import { decodeObjectOf } from './decode-request';
import { operationOf, scopeOf, toStorage } from './resource-request';
import { trackOwners } from './track-owners';

/** Decodes, owns, admits, stores; answers 201 with what was stored. */
export const createObject: Endpoint = async (request, dependencies) => {
  refuseTerminating(request);
  const { context, served } = request;
  const { object: sent, options } = await decodeObjectOf(request, dependencies, () =>
    parseWriteOptions(context.info.query, 'CreateOptions'),
  );
  // Another namespace is refused before admission, which sees the object as it was sent.
  placedInScope(served.definition, scopeOf(request), sent);
  const unique = withoutDuplicateOwners(sent, 'sent', context);
  const object = unique instanceof Promise ? await unique : unique;
  const manager = managerName(options, context.request.headers['user-agent']);
  // For a large body the steps after decoding have turns of their own: ownership, mutation, validation, storing.
  const tracked = trackOwners(request, dependencies, undefined, object, manager);
  const owned = tracked instanceof Promise ? await tracked : tracked;
  const admission = admissionHooks(request, dependencies, options.object, options.dryRun);
  const { entry } = await admission.guard(() =>
    request.registry.create(
      scopeOf(request),
      toStorage(request, owned),
      {
        mutate: (stored) =>
          whenKnown(admission.mutate('CREATE', stored, undefined), (mutated) => inItsTurn(context, () => mutated)),
        validate: (stored) =>
          whenKnown(admission.validate('CREATE', stored, undefined), () => inItsTurn(context, () => undefined)),
      },
      operationOf(request, options.dryRun),
    ),
  );
  return entryResponse(201, entry, served);
};

function refuseTerminating({ served }: ResourceRequest): void {
  if (served.terminating !== true) return;
  const { group } = served.version;
  throw new StatusError(405, 'MethodNotAllowed', 'create not allowed while custom resource definition is terminating', {
    ...(group === '' ? {} : { group }),
    kind: served.definition.resource,
  });
}
