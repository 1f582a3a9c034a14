import type { Endpoint } from './endpoint';
import { parseCollectionOptions } from '../request/list-options';
import { scopeOf } from './resource-request';

/** Reads a collection; the answer is written as it is read. */
export const listObjects: Endpoint = async (request, { features }) => {
  const { list } = parseCollectionOptions(request.context.info, request.served, features);
  const result = await request.registry.list(scopeOf(request), list, request.context);
  return { type: 'list', result, served: request.served };
};
