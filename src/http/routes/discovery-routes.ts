import { aggregatedDiscovery, type AggregatedVersion } from '../../api/discovery/aggregated';
import { apiGroup, apiGroupList, apiVersions, type DiscoveredGroup } from '../../api/discovery/groups';
import { apiResourceList } from '../../api/discovery/resource-list';
import type { KindDefinition } from '../../api/kinds/kind-definition';
import { parseApiVersion } from '../../api/object';
import type { StructType } from '../../api/schema/model';
import type { RequestContext } from '../context';
import type { NonResourceRoute } from '../dependencies';
import { methodNotAllowed, resourceNotFound } from '../refusals';
import { textReply, type Reply, type WireObject } from '../reply';

/** What is served now; custom resources come and go. */
export interface DiscoverySource {
  /** Changes whenever definitions or groups change: answers are kept until then. */
  readonly generation: () => number;
  readonly definitions: () => readonly KindDefinition[];
  /** Named groups in order of priority; the core group is not among them. */
  readonly groups: () => readonly DiscoveredGroup[];
  /** Groups of custom resources alone answer more loosely. */
  readonly hasBuiltInGroup: (name: string) => boolean;
  /** Host and port under which clients outside reach the server. */
  readonly serverAddress: string;
  /** A kind of meta/v1 by name, for Protobuf. */
  readonly metaType: (kind: string) => StructType | undefined;
}

const CORE: DiscoveredGroup = { name: '', versions: ['v1'] };
const AGGREGATED = /application\/json\s*;[^,]*\bas=APIGroupDiscoveryList\b/;

/** Whether the client lists the aggregated form first or at all; kubectl of today does on `/api` and `/apis`. */
function aggregatedVersion(accept: string | undefined): AggregatedVersion | undefined {
  if (accept === undefined || !AGGREGATED.test(accept)) return undefined;
  for (const entry of accept.split(',')) {
    if (!entry.includes('as=APIGroupDiscoveryList') || !entry.includes('g=apidiscovery.k8s.io')) continue;
    if (/;\s*v=v2(;|$)/.test(entry.trim())) return 'v2';
    if (/;\s*v=v2beta1(;|$)/.test(entry.trim())) return 'v2beta1';
  }
  return undefined;
}

/** `/api`, `/apis` and all below them: which groups, versions and resources there are. */
export function discoveryRoutes(source: DiscoverySource): readonly NonResourceRoute[] {
  let generation = -1;
  const answers = new Map<string, Reply>();

  const remember = (key: string, make: () => Reply): Reply => {
    if (generation !== source.generation()) {
      answers.clear();
      generation = source.generation();
    }
    const known = answers.get(key);
    if (known !== undefined) return known;
    const made = make();
    answers.set(key, made);
    return made;
  };

  const object = (kind: string, value: object): Reply => {
    const struct = source.metaType(kind);
    return { type: 'object', code: 200, object: value as WireObject, ...(struct === undefined ? {} : { struct }) };
  };

  const root = (
    path: string,
    groups: () => readonly DiscoveredGroup[],
    { request }: RequestContext,
    plain: () => Reply,
  ): Reply => {
    const version = aggregatedVersion(request.headers.accept);
    if (version === undefined) return remember(path, plain);
    return remember(`${version} ${path}`, () => ({
      type: 'bytes',
      code: 200,
      contentType: `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
      body: `${JSON.stringify(aggregatedDiscovery(source.definitions(), groups(), version))}\n`,
      headers: { Vary: 'Accept' },
    }));
  };

  const resources = (group: string, version: string): Reply => {
    const list = apiResourceList(source.definitions(), group, version);
    return list === undefined ? textReply(404, '404 page not found\n') : object('APIResourceList', list);
  };

  return [
    {
      path: '/api',
      handler: (context) =>
        root(
          '/api',
          () => [CORE],
          context,
          () => object('APIVersions', apiVersions(source.serverAddress)),
        ),
    },
    { path: '/api/v1', handler: () => remember('/api/v1', () => resources('', 'v1')) },
    {
      path: '/apis',
      handler: (context) =>
        root('/apis', source.groups, context, () => object('APIGroupList', apiGroupList(source.groups()))),
    },
    {
      path: '/apis/',
      prefix: true,
      unlisted: true,
      // A group answers whatever the method.
      methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      handler: ({ info: { path }, request }) => {
        const name = path.slice('/apis/'.length).replace(/\/$/, '');
        if (name.split('/').length > 2) return textReply(404, '404 page not found\n');
        // Only what is served is remembered: a stranger's paths would fill the memory.
        const found = source.groups().find((group) => group.name === name);
        if (found !== undefined) return remember(path, () => object('APIGroup', apiGroup(found)));
        const { group, version } = parseApiVersion(name);
        const known = source.groups().find((one) => one.name === group);
        if (known === undefined) return textReply(404, '404 page not found\n');
        const builtIn = source.hasBuiltInGroup(group);
        if (!known.versions.includes(version)) {
          if (builtIn) throw resourceNotFound();
          return textReply(404, '404 page not found\n');
        }
        if (builtIn && request.method !== 'GET') throw methodNotAllowed();
        return remember(path, () => resources(group, version));
      },
    },
  ];
}
