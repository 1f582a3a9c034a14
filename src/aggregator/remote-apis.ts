import type { AggregatedResources } from '../api/discovery/aggregated';
import type { DiscoveredGroup } from '../api/discovery/groups';
import type { KubeObject } from '../api/object';
import type { RemotePart } from '../api/openapi/remote-part';
import { jsonEqual } from '../api/patch/json-equal';
import type { PeerTls } from '../client/peer-tls';
import { ApiConnections } from './api-connections';
import { mergedGroups } from './merged-groups';
import { groupVersionKey, remoteApiOf, serverNameOf, type RemoteApi } from './remote-api';

/** An OpenAPI v3 document as another server has it. */
export interface RemoteDocument {
  readonly body: Buffer;
  readonly etag: string;
}

/** One group version of another server, and what is known of it. */
export interface RemoteEntry {
  readonly api: RemoteApi;
  readonly connections: ApiConnections;
  /** How each side knows the other. The same object while nothing has changed. */
  readonly tls: () => PeerTls;
  /** As its APIService says. */
  readonly isAvailable: boolean;
  /** As the other server last told; undefined: it never has. */
  readonly resources: readonly object[] | undefined;
  readonly document: RemoteDocument | undefined;
  readonly part: KnownPart | undefined;
}

/** What another server's OpenAPI v2 document says of the group version. */
export interface KnownPart {
  readonly part: RemotePart | undefined;
  /** Of the whole document. */
  readonly etag: string;
  readonly bytes: number;
}

/** The client certificate that other servers are shown. The same object while it has not changed. */
export type ClientTls = () => Pick<PeerTls, 'clientCertificate' | 'clientKey'>;

/** The path of a request, as far as it says who answers. */
interface AskedPath {
  readonly path: string;
  readonly isResourceRequest: boolean;
  readonly group: string;
  readonly version: string;
}

const VERSION_ROOT = /^\/apis\/([^/]+)\/([^/]+)\/?$/;

/** The group versions that other API servers serve, by their APIServices. */
export class RemoteApis {
  readonly #entries = new Map<string, RemoteEntry>();
  #generation = 0;

  constructor(private readonly clientTls: ClientTls) {}

  /** Changes whenever what is told of them does. */
  generation(): number {
    return this.#generation;
  }

  /** Who answers a request, if it is another server. */
  find({ path, isResourceRequest, group, version }: AskedPath): RemoteEntry | undefined {
    if (this.#entries.size === 0) return undefined;
    if (isResourceRequest) return group === '' ? undefined : this.#entries.get(`${version}.${group}`);
    const [, asked, askedVersion] = VERSION_ROOT.exec(path) ?? [];
    return asked === undefined ? undefined : this.#entries.get(`${askedVersion}.${asked}`);
  }

  get(name: string): RemoteEntry | undefined {
    return this.#entries.get(name);
  }

  entries(): Iterable<RemoteEntry> {
    return this.#entries.values();
  }

  /** Takes an APIService as it stands now. Says whether its server has to be looked at anew. */
  put(object: KubeObject, isAvailable: boolean): boolean {
    const api = remoteApiOf(object);
    const name = object.metadata.name ?? '';
    if (api === undefined) {
      this.delete(name);
      return false;
    }
    const known = this.#entries.get(name);
    if (known !== undefined && jsonEqual(known.api, api)) {
      if (known.isAvailable !== isAvailable) this.#set({ ...known, isAvailable });
      return false;
    }
    known?.connections.close();
    const tls = this.#tlsOf(api);
    const connections = new ApiConnections(tls);
    const nothing = { resources: undefined, document: undefined, part: undefined };
    this.#set({ api, connections, tls, isAvailable, ...nothing });
    return true;
  }

  delete(name: string): void {
    const known = this.#entries.get(name);
    if (known === undefined) return;
    known.connections.close();
    this.#entries.delete(name);
    this.#generation += 1;
  }

  /** What its server told; nothing happens when the entry is about another one by now. */
  learn(entry: RemoteEntry, learned: Partial<Pick<RemoteEntry, 'resources' | 'document' | 'part'>>): void {
    const known = this.#entries.get(entry.api.name);
    if (known?.api === entry.api) this.#set({ ...known, ...learned });
  }

  /** `local`: this server's own, in order of priority. */
  groupsAmong(local: readonly DiscoveredGroup[]): readonly DiscoveredGroup[] {
    return mergedGroups(
      local,
      [...this.#entries.values()].map(({ api }) => api),
    );
  }

  /** By `group/version`, for aggregated discovery. */
  resources(): ReadonlyMap<string, AggregatedResources> {
    return new Map(
      [...this.#entries.values()].map(({ api, isAvailable, resources }) => [
        groupVersionKey(api),
        { resources: resources ?? [], freshness: isAvailable && resources !== undefined ? 'Current' : 'Stale' },
      ]),
    );
  }

  /** By `group/version`. */
  documents(): ReadonlyMap<string, RemoteDocument> {
    const documents = new Map<string, RemoteDocument>();
    for (const { api, document } of this.#entries.values()) {
      if (document !== undefined) documents.set(groupVersionKey(api), document);
    }
    return documents;
  }

  /** For OpenAPI v2. */
  parts(): readonly RemotePart[] {
    return [...this.#entries.values()].flatMap(({ part }) => part?.part ?? []);
  }

  close(): void {
    for (const { connections } of this.#entries.values()) connections.close();
    this.#entries.clear();
  }

  #set(entry: RemoteEntry): void {
    this.#entries.set(entry.api.name, entry);
    this.#generation += 1;
  }

  #tlsOf(api: RemoteApi): () => PeerTls {
    let shown: ReturnType<ClientTls> | undefined;
    let tls: PeerTls = {};
    return () => {
      const now = this.clientTls();
      if (now === shown) return tls;
      shown = now;
      tls = {
        ...now,
        serverName: serverNameOf(api),
        ...(api.certificateAuthority === '' ? {} : { certificateAuthority: api.certificateAuthority }),
        ...(api.insecure ? { insecure: true } : {}),
      };
      return tls;
    };
  }
}
