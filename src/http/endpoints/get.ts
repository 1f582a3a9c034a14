import type { Endpoint } from '../dependencies';
import { entryReply } from '../reply';
import { scopeOf } from './resource-request';

/** Reads one object, or a subresource that is a view of the whole object. */
export const getObject: Endpoint = async (request) => {
  const { info } = request.context;
  const resourceVersion = info.query.first('resourceVersion') ?? '';
  const entry = await request.registry.get(
    scopeOf(request),
    info.name,
    resourceVersion === '' ? {} : { resourceVersion },
    request.context.signal,
  );
  return entryReply(200, entry, request.served);
};
