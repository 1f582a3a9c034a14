import { encodeMessageSteps } from '../../api/codec/protobuf-encode-steps';
import { encodeEnvelope } from '../../api/codec/protobuf-envelope';
import {
  aggregatedDiscovery,
  DISCOVERY_GROUP,
  printAggregatedDiscovery,
  printDiscoveryYaml,
  type AggregatedResources,
  type AggregatedVersion,
} from '../../api/discovery/aggregated';
import { apiGroup, apiGroupList, apiVersions, type DiscoveredGroup } from '../../api/discovery/groups';
import { apiResourceList, type DiscoveryFeatures } from '../../api/discovery/resource-list';
import type { KindDefinition } from '../../api/kinds/kind-definition';
import type { MaybePromise } from '../../api/maybe-promise';
import { apiVersionOf, parseApiVersion } from '../../api/object';
import type { StructType } from '../../api/schema/model';
import { runSteps, type Steps } from '../../async/steps';
import type { RequestContext } from '../request/context';
import type { NonResourceRoute } from './route';
import { entityTag, isKnown } from '../response/entity-tag';
import { DISCOVERY, MEDIA_TYPES, negotiate, type Format, type Negotiated } from '../request/negotiate';
import { methodNotAllowed, resourceNotFound } from '../response/refusals';
import { textResponse, type ApiResponse, type WireObject } from '../response/api-response';

/** What is served now; custom resources come and go. */
export interface DiscoverySource {
  /** Changes whenever definitions or groups change: answers are kept until then. */
  readonly generation: () => number;
  readonly definitions: () => readonly KindDefinition[];
  /** Named groups in order of priority; the core group is not among them. */
  readonly groups: () => readonly DiscoveredGroup[];
  /** What other servers serve, by `group/version`. Absent: nothing. */
  readonly remote?: () => ReadonlyMap<string, AggregatedResources>;
  /** Groups of custom resources alone answer more loosely. */
  readonly hasBuiltInGroup: (name: string) => boolean;
  /** Host and port under which clients outside reach the server. */
  readonly serverAddress: string;
  /** Absent: all. */
  readonly features?: DiscoveryFeatures;
  /** A kind of meta/v1 by name, for Protobuf. */
  readonly metaType: (kind: string) => StructType | undefined;
  /** APIGroupDiscoveryList of a version, for Protobuf. */
  readonly aggregatedType: (version: AggregatedVersion) => StructType | undefined;
}

/** For the log. */
const WORK = 'printing what discovery tells';
const CORE: DiscoveredGroup = { name: '', versions: ['v1'] };

/** What the client prefers; kubectl of today prefers the aggregated form on `/api` and `/apis`. */
function negotiateDiscovery(accept: string | undefined): Negotiated | undefined {
  try {
    return negotiate(accept, DISCOVERY);
  } catch {
    return undefined;
  }
}

/** A document that changes seldom, which clients that have it need not get again. */
interface Document {
  readonly body: Buffer;
  readonly contentType: string;
  readonly etag: string;
}

/** `/api`, `/apis` and all below them: which groups, versions and resources there are. */
export function discoveryRoutes(source: DiscoverySource): readonly NonResourceRoute[] {
  let generation = -1;
  const responses = new Map<string, ApiResponse>();
  const documents = new Map<string, Promise<Document>>();

  const rememberIn = <Value>(memory: Map<string, Value>, key: string, make: () => Value): Value => {
    if (generation !== source.generation()) {
      responses.clear();
      documents.clear();
      generation = source.generation();
    }
    const known = memory.get(key);
    if (known !== undefined) return known;
    const made = make();
    memory.set(key, made);
    return made;
  };
  const remember = (key: string, make: () => ApiResponse): ApiResponse => rememberIn(responses, key, make);

  const object = (kind: string, value: object): ApiResponse => {
    const struct = source.metaType(kind);
    return { type: 'object', code: 200, object: value as WireObject, ...(struct === undefined ? {} : { struct }) };
  };

  const root = (
    path: string,
    groups: () => readonly DiscoveredGroup[],
    { request }: RequestContext,
    plain: () => ApiResponse,
  ): MaybePromise<ApiResponse> => {
    const { format = 'json', aggregated: version } = negotiateDiscovery(request.headers.accept) ?? {};
    if (version === undefined) return remember(path, plain);
    const key = `${version} ${format} ${path}`;
    const document = rememberIn(documents, key, () => runSteps(printed(groups(), format, version), WORK));
    // This request fails with it; the next one tries again.
    document.catch(() => {
      if (documents.get(key) === document) documents.delete(key);
    });
    return document.then(({ body, contentType, etag }) => {
      const headers = { ETag: etag, Vary: 'Accept' };
      if (isKnown(request, etag)) return { type: 'empty', code: 304, headers };
      return { type: 'bytes', code: 200, contentType, body, headers };
    });
  };

  function* printed(groups: readonly DiscoveredGroup[], format: Format, version: AggregatedVersion): Steps<Document> {
    const body = yield* print(groups, format, version);
    yield;
    return {
      body,
      contentType: `${MEDIA_TYPES[format]};g=${DISCOVERY_GROUP};v=${version};as=APIGroupDiscoveryList`,
      etag: entityTag(body),
    };
  }

  function* print(groups: readonly DiscoveredGroup[], format: Format, version: AggregatedVersion): Steps<Buffer> {
    const told = [source.definitions(), groups, version, source.remote?.()] as const;
    if (format === 'json') return Buffer.from(`${yield* printAggregatedDiscovery(...told)}\n`);
    const list = yield* aggregatedDiscovery(...told);
    if (format === 'yaml') return Buffer.from(yield* printDiscoveryYaml(list));
    const kind = 'APIGroupDiscoveryList';
    const apiVersion = apiVersionOf(DISCOVERY_GROUP, version);
    const type = source.aggregatedType(version);
    if (type === undefined) throw new Error(`the schema has no ${kind} of ${apiVersion}`);
    const raw = yield* encodeMessageSteps(type, list);
    return Buffer.from(encodeEnvelope({ apiVersion, kind, raw }));
  }

  const resources = (group: string, version: string): ApiResponse => {
    const list = apiResourceList(source.definitions(), group, version, source.features);
    return list === undefined ? textResponse(404, '404 page not found\n') : object('APIResourceList', list);
  };

  let listed: { readonly generation: number; readonly paths: readonly string[] } | undefined;
  const groupPaths = (): readonly string[] => {
    const now = source.generation();
    if (listed?.generation !== now) {
      const below = source.groups().flatMap(({ name, versions }) => [name, ...versions.map((one) => `${name}/${one}`)]);
      listed = { generation: now, paths: ['', ...below].map((path) => `/apis/${path}`) };
    }
    return listed.paths;
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
      listsNow: groupPaths,
      methods: 'any',
      handler: (context) =>
        root('/apis', source.groups, context, () => object('APIGroupList', apiGroupList(source.groups()))),
    },
    {
      path: '/apis/',
      prefix: true,
      unlisted: true,
      // A group answers whatever the method.
      methods: 'any',
      handler: ({ info: { path }, request }) => {
        const name = path.slice('/apis/'.length).replace(/\/$/, '');
        if (name.split('/').length > 2) return textResponse(404, '404 page not found\n');
        // Only what is served is remembered: a stranger's paths would fill the memory.
        const found = source.groups().find((group) => group.name === name);
        if (found !== undefined) return remember(path, () => object('APIGroup', apiGroup(found)));
        const { group, version } = parseApiVersion(name);
        const known = source.groups().find((one) => one.name === group);
        if (known === undefined) return textResponse(404, '404 page not found\n');
        const builtIn = source.hasBuiltInGroup(group);
        if (!known.versions.includes(version)) {
          if (builtIn) throw resourceNotFound();
          return textResponse(404, '404 page not found\n');
        }
        if (builtIn && request.method !== 'GET') throw methodNotAllowed();
        return remember(path, () => resources(group, version));
      },
    },
  ];
}
