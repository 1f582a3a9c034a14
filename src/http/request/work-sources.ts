import type { FlowAttributes } from '../../flowcontrol/matching';
import type { WorkSources } from '../../flowcontrol/work-estimate';
import type { Catalogue } from '../../resources/served-resource';
import type { RequestInfo } from './request-info';

/** What memory says of how much a request will take; nothing of what is not served. */
export function workSources(catalogue: Catalogue): WorkSources<RequestInfo> {
  const registryOf = ({ group, version, resource }: FlowAttributes) =>
    catalogue.resolve(group, version, resource)?.registry;
  return {
    listed: (info) => {
      const { query, namespace, verb } = info;
      if (verb === 'watch' && !query.flag('sendInitialEvents')) return 0;
      const count = registryOf(info)?.count(namespace) ?? 0;
      // A selector has them all looked at.
      if (query.has('labelSelector') || query.has('fieldSelector')) return count;
      const limit = Number(query.first('limit') ?? 0);
      return limit > 0 ? Math.min(limit, count) : count;
    },
    watchers: (info) => registryOf(info)?.watchers(info.namespace, info.name) ?? 0,
  };
}
