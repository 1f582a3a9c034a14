import { whenKnown } from '../../api/maybe-promise';
import type { Endpoint } from '../dependencies';
import { entryReply } from '../reply';
import { scopeOf } from './resource-request';

/** Reads one object, or a subresource that is a view of the whole object. */
export const getObject: Endpoint = (request) => {
  const { info } = request.context;
  const resourceVersion = info.query.first('resourceVersion') ?? '';
  const entry = request.registry.get(
    scopeOf(request),
    info.name,
    resourceVersion === '' ? {} : { resourceVersion },
    request.context.signal,
  );
  return whenKnown(entry, (found) => entryReply(200, found, request.served));
};
