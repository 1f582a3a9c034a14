import { whenKnown } from '../../api/maybe-promise';
import type { Endpoint } from './endpoint';
import { entryResponse } from '../response/api-response';
import { scopeOf } from './resource-request';

/** Reads one object, or a subresource that is a view of the whole object. */
export const getObject: Endpoint = (request) => {
  const { info } = request.context;
  const resourceVersion = info.query.first('resourceVersion') ?? '';
  const entry = request.registry.get(
    scopeOf(request),
    info.name,
    resourceVersion === '' ? {} : { resourceVersion },
    // Not its signal, which most reads need not make.
    request.context,
  );
  return whenKnown(entry, (found) => entryResponse(200, found, request.served));
};
