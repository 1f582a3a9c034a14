import type { KindDefinition } from '../../api/kinds/kind-definition';
import { parseApiVersion } from '../../api/object';
import type { CustomSchemas, GroupVersion } from '../../api/openapi/definitions';
import { concatSteps, hashSteps } from '../../api/openapi/print-steps';
import type { RemotePart } from '../../api/openapi/remote-part';
import { printOpenApiV2, type DocumentInfo, type DocumentSource } from '../../api/openapi/v2-document';
import { printOpenApiV2Protobuf } from '../../api/openapi/v2-protobuf';
import { buildOpenApiV3Index, printOpenApiV3 } from '../../api/openapi/v3-document';
import type { Schema } from '../../api/schema/model';
import { runSteps, type Steps } from '../../async/steps';
import { Turn } from '../../async/turn';

export interface OpenApiSource {
  readonly schema: Schema;
  readonly info: DocumentInfo;
  /** Changes whenever what is served changes. */
  readonly generation: () => number;
  /** A kind has another definition when anything has changed of it. */
  readonly definitions: () => readonly KindDefinition[];
  /** Schemas of custom kinds. */
  readonly custom: () => CustomSchemas;
  /** Every group version that is served, the core one included. */
  readonly groupVersions: () => readonly GroupVersion[];
  /** Documents of other servers, by `group/version`. Absent: none. */
  readonly remote?: () => ReadonlyMap<string, { readonly body: Buffer; readonly etag: string }>;
  /** What their v2 documents say. */
  readonly remoteParts?: () => readonly RemotePart[];
}

/** A document, whose pieces others share; compressed it is kept from when a client first asks for that. */
export interface OpenApiDocument {
  readonly pieces: readonly Buffer[];
  readonly etag: string;
  readonly contentType: string;
  gzipped?: Promise<Buffer>;
  /** The pieces together, while they are put together and for as long as they are being sent to somebody. */
  joining?: Promise<Buffer>;
  joined?: WeakRef<Buffer>;
}

/** The whole document: one for all that it is sent to at a time, however slowly they read. */
export async function bodyOf(document: OpenApiDocument): Promise<Buffer> {
  const joined = document.joined?.deref();
  if (joined !== undefined) return joined;
  document.joining ??= join(document).finally(() => delete document.joining);
  return document.joining;
}

async function join(document: OpenApiDocument): Promise<Buffer> {
  const joined = await runSteps(concatSteps(document.pieces), WORK);
  document.joined = new WeakRef(joined);
  return joined;
}

/** One that is being made, or has been. */
interface Made {
  readonly document: Promise<OpenApiDocument>;
  /** What it is about: as long as that is the same, it stays. */
  readonly kinds: readonly KindDefinition[];
  readonly remote: readonly RemotePart[];
  /** When that was last looked at. */
  generation: number;
}

type Print = (source: DocumentSource) => Steps<readonly Buffer[]>;

/** For the log. */
const WORK = 'printing an OpenAPI document';
const V3_KEY = 'v3 document ';

function keyOf({ group, version }: GroupVersion): string {
  return `${V3_KEY}${group}/${version}`;
}

/**
 * The documents of what is served now. Each is made when first asked for, some milliseconds at a time, and kept until one of
 * its kinds changes; requests that come meanwhile wait for the same one.
 */
export class OpenApiDocuments {
  readonly #source: OpenApiSource;
  readonly #made = new Map<string, Made>();
  /** As they were before the last change: one that has come out the same keeps its tag and its compressed form. */
  readonly #former = new Map<string, OpenApiDocument>();
  /** Those of the last generation that was asked about, by group version. */
  #kindsOf: ReadonlyMap<string, readonly KindDefinition[]> = new Map();
  #generation = -1;

  constructor(source: OpenApiSource) {
    this.#source = source;
  }

  v2(): Promise<OpenApiDocument> {
    return this.#v2('v2 json', 'text/plain; charset=utf-8', printOpenApiV2);
  }

  v2Protobuf(): Promise<OpenApiDocument> {
    return this.#v2('v2 protobuf', 'application/octet-stream', printOpenApiV2Protobuf);
  }

  #v2(key: string, contentType: string, print: Print): Promise<OpenApiDocument> {
    // After a change, to list what is served and to find what has changed is half a turn.
    const turn = new Turn(WORK);
    const { definitions, remoteParts } = this.#source;
    return this.#get(key, contentType, turn, definitions(), print, remoteParts?.());
  }

  v3(groupVersion: GroupVersion): Promise<OpenApiDocument> {
    const turn = new Turn(WORK);
    this.#follow();
    const kinds = this.#kindsOf.get(keyOf(groupVersion)) ?? [];
    return this.#get(keyOf(groupVersion), 'application/json', turn, kinds, (source) =>
      printOpenApiV3(source, groupVersion),
    );
  }

  /** Another server's, with its compressed form. */
  remote(key: string, { body, etag }: { readonly body: Buffer; readonly etag: string }): OpenApiDocument {
    const formerKey = keyOf(parseApiVersion(key));
    const former = this.#former.get(formerKey);
    if (former?.etag === etag) return former;
    const document = { pieces: [body], etag, contentType: 'application/json' };
    this.#former.set(formerKey, document);
    return document;
  }

  async v3Index(): Promise<OpenApiDocument> {
    const remote = this.#source.remote?.() ?? new Map<string, { readonly etag: string }>();
    const isLocal = ({ group, version }: GroupVersion): boolean => !remote.has(`${group}/${version}`);
    const hashed: (GroupVersion & { readonly hash: string })[] = [];
    for (const one of this.#source.groupVersions().filter(isLocal)) {
      hashed.push({ ...one, hash: (await this.v3(one)).etag });
    }
    for (const [key, { etag }] of remote) hashed.push({ ...parseApiVersion(key), hash: etag });
    const body = Buffer.from(JSON.stringify(buildOpenApiV3Index(hashed)));
    return runSteps(this.#document('v3 index', 'application/json', [body]), WORK);
  }

  #get(
    key: string,
    contentType: string,
    turn: Turn,
    kinds: readonly KindDefinition[],
    print: Print,
    remote: readonly RemotePart[] = [],
  ): Promise<OpenApiDocument> {
    this.#follow();
    const known = this.#made.get(key);
    const isSame = (made: Made): boolean => areSame(made.kinds, kinds) && areSame(made.remote, remote);
    if (known !== undefined && (known.generation === this.#generation || isSame(known))) {
      known.generation = this.#generation;
      return known.document;
    }
    const { schema, info, custom } = this.#source;
    const pieces = print({ schema, info, definitions: kinds, custom: custom(), remote });
    const document = runSteps(this.#print(key, contentType, pieces), turn);
    const made = { document, kinds, remote, generation: this.#generation };
    this.#made.set(key, made);
    // Its caller hears of it; the next one tries again.
    made.document.catch(() => {
      if (this.#made.get(key) === made) this.#made.delete(key);
    });
    return made.document;
  }

  *#print(key: string, contentType: string, printing: Steps<readonly Buffer[]>): Steps<OpenApiDocument> {
    return yield* this.#document(key, contentType, yield* printing);
  }

  *#document(key: string, contentType: string, pieces: readonly Buffer[]): Steps<OpenApiDocument> {
    const etag = yield* hashSteps(pieces);
    const former = this.#former.get(key);
    if (former?.etag === etag) return former;
    const document = { pieces, etag, contentType };
    this.#former.set(key, document);
    return document;
  }

  /** Takes in what is served now; forgets what is not served any more. */
  #follow(): void {
    const { generation, definitions, groupVersions } = this.#source;
    if (this.#generation === generation()) return;
    this.#generation = generation();
    this.#kindsOf = byGroupVersion(definitions());
    const served = new Set(groupVersions().map(keyOf));
    for (const documents of [this.#former, this.#made]) {
      for (const key of documents.keys()) if (key.startsWith(V3_KEY) && !served.has(key)) documents.delete(key);
    }
  }
}

function byGroupVersion(definitions: readonly KindDefinition[]): ReadonlyMap<string, readonly KindDefinition[]> {
  const found = new Map<string, KindDefinition[]>();
  for (const definition of definitions) {
    for (const key of new Set(definition.versions.map(keyOf))) {
      const others = found.get(key);
      if (others === undefined) found.set(key, [definition]);
      else others.push(definition);
    }
  }
  return found;
}

function areSame(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((one, index) => one === right[index]);
}
