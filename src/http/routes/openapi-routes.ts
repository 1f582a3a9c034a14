import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { openApiHash, openApiV3Url, printOpenApiV3, buildOpenApiV3Index } from '../../api/openapi/v3-document';
import { printOpenApiV2, type DocumentInfo, type DocumentSource } from '../../api/openapi/v2-document';
import type { CustomSchemas, GroupVersion } from '../../api/openapi/definitions';
import { printOpenApiV2Protobuf } from '../../api/openapi/v2-protobuf';
import type { KindDefinition } from '../../api/kinds/kind-definition';
import { parseApiVersion } from '../../api/object';
import type { Schema } from '../../api/schema/model';
import { runSteps } from '../../async/steps';
import { takesGzip } from '../response/body-writer';
import type { RequestContext } from '../request/context';
import type { NonResourceRoute } from './route';
import { isKnown } from '../response/entity-tag';
import { textReply, type Reply } from '../response/reply';

export interface OpenApiSource {
  readonly schema: Schema;
  readonly info: DocumentInfo;
  /** Changes whenever what is served changes: documents are kept until then. */
  readonly generation: () => number;
  readonly definitions: () => readonly KindDefinition[];
  /** Schemas of custom kinds. */
  readonly custom: () => CustomSchemas;
  /** Every group version that is served, the core one included. */
  readonly groupVersions: () => readonly GroupVersion[];
  /** Documents of other servers, by `group/version`. Absent: none. */
  readonly remote?: () => ReadonlyMap<string, { readonly body: Buffer; readonly etag: string }>;
}

const V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const V3_FORMS = new Set(['*/*', 'application/*', 'application/json']);
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;
const V2_FORMS = new Set(['*/*', 'application/*', 'application/json', V2_PROTOBUF]);

const compress = promisify(gzip);

/** A document as it is sent; compressed when a client first asks for that. */
interface Document {
  readonly body: Buffer;
  readonly etag: string;
  readonly contentType: string;
  gzipped?: Promise<Buffer>;
}

function accepts(context: RequestContext): readonly string[] {
  const { accept } = context.request.headers;
  if (accept === undefined || accept === '') return ['*/*'];
  return accept.split(',').map((entry) => (entry.split(';')[0] ?? '').trim());
}

async function serve(
  context: RequestContext,
  document: Document,
  headers: Readonly<Record<string, string>>,
): Promise<Reply> {
  const etag = `"${document.etag}"`;
  const common = { ...headers, ETag: etag, Vary: 'Accept-Encoding, Accept' };
  const { contentType } = document;
  if (isKnown(context.request, etag)) return { type: 'empty', code: 304, headers: common };
  if (!takesGzip(context.request.headers['accept-encoding'])) {
    return { type: 'bytes', code: 200, contentType, body: document.body, headers: common };
  }
  document.gzipped ??= compress(document.body);
  return {
    type: 'bytes',
    code: 200,
    contentType,
    body: await document.gzipped,
    headers: { ...common, 'Content-Encoding': 'gzip' },
  };
}

/** For the log. */
const WORK = 'printing an OpenAPI document';
const V3_KEY = 'v3 document ';

function keyOf({ group, version }: GroupVersion): string {
  return `${V3_KEY}${group}/${version}`;
}

/**
 * The documents of what is served now. Each is made when first asked for, some milliseconds at a time, and then kept; requests
 * that come meanwhile wait for the same one.
 */
class Documents {
  readonly #source: OpenApiSource;
  readonly #made = new Map<string, Promise<Document>>();
  /** As they were before the last change: one that has come out the same keeps its tag and its compressed form. */
  readonly #former = new Map<string, Document>();
  #generation = -1;

  constructor(source: OpenApiSource) {
    this.#source = source;
  }

  v2(): Promise<Document> {
    return this.#get('v2 json', 'text/plain; charset=utf-8', (source) => runSteps(printOpenApiV2(source), WORK));
  }

  v2Protobuf(): Promise<Document> {
    return this.#get('v2 protobuf', 'application/octet-stream', (source) =>
      runSteps(printOpenApiV2Protobuf(source), WORK),
    );
  }

  v3(groupVersion: GroupVersion): Promise<Document> {
    return this.#get(keyOf(groupVersion), 'application/json', (source) =>
      runSteps(printOpenApiV3(source, groupVersion), WORK),
    );
  }

  /** Another server's, with its compressed form. */
  remote(key: string, { body, etag }: { readonly body: Buffer; readonly etag: string }): Document {
    const formerKey = keyOf(parseApiVersion(key));
    const former = this.#former.get(formerKey);
    if (former?.etag === etag) return former;
    const document = { body, etag, contentType: 'application/json' };
    this.#former.set(formerKey, document);
    return document;
  }

  v3Index(): Promise<Document> {
    const remote = this.#source.remote?.() ?? new Map<string, { readonly etag: string }>();
    const isLocal = ({ group, version }: GroupVersion): boolean => !remote.has(`${group}/${version}`);
    const groupVersions = this.#source.groupVersions().filter(isLocal);
    return this.#get('v3 index', 'application/json', async () => {
      const hashed: (GroupVersion & { readonly hash: string })[] = [];
      for (const one of groupVersions) hashed.push({ ...one, hash: (await this.v3(one)).etag });
      for (const [key, { etag }] of remote) hashed.push({ ...parseApiVersion(key), hash: etag });
      return Buffer.from(JSON.stringify(buildOpenApiV3Index(hashed)));
    });
  }

  #get(key: string, contentType: string, print: (source: DocumentSource) => Promise<Buffer>): Promise<Document> {
    const generation = this.#source.generation();
    if (this.#generation !== generation) {
      this.#made.clear();
      this.#forgetUnserved();
      this.#generation = generation;
    }
    let made = this.#made.get(key);
    if (made === undefined) {
      const { schema, info, definitions, custom } = this.#source;
      made = this.#make(key, contentType, print({ schema, info, definitions: definitions(), custom: custom() }));
      this.#made.set(key, made);
      // Whoever asked hears of it; the next one tries again.
      made.catch(() => this.#made.delete(key));
    }
    return made;
  }

  #forgetUnserved(): void {
    const served = new Set(this.#source.groupVersions().map(keyOf));
    for (const key of this.#former.keys()) if (key.startsWith(V3_KEY) && !served.has(key)) this.#former.delete(key);
  }

  async #make(key: string, contentType: string, printing: Promise<Buffer>): Promise<Document> {
    const body = await printing;
    const former = this.#former.get(key);
    if (former?.body.equals(body) === true) return former;
    const document = { body, etag: openApiHash(body), contentType };
    this.#former.set(key, document);
    return document;
  }
}

/** `/openapi/v2` and `/openapi/v3`. */
export function openApiRoutes(source: OpenApiSource): readonly NonResourceRoute[] {
  const documents = new Documents(source);
  return [
    {
      path: '/openapi/v2',
      methods: 'any',
      handler: async (context) => {
        const wanted = accepts(context).find((form) => V2_FORMS.has(form));
        if (wanted === undefined) return { type: 'bytes', code: 406, contentType: '', body: '' };
        const document = await (wanted === V2_PROTOBUF ? documents.v2Protobuf() : documents.v2());
        return serve(context, document, {});
      },
    },
    {
      path: '/openapi/v3',
      methods: ['GET', 'HEAD'],
      handler: async (context) => serve(context, await documents.v3Index(), {}),
    },
    {
      path: '/openapi/v3/',
      prefix: true,
      unlisted: true,
      methods: ['GET', 'HEAD'],
      handler: async (context) => {
        const name = context.info.path.slice('/openapi/v3/'.length).replace(/^apis?\//, '');
        const wanted = parseApiVersion(name);
        const remote = source.remote?.().get(name);
        const served = remote
          ? wanted
          : source.groupVersions().find(({ group, version }) => group === wanted.group && version === wanted.version);
        if (served === undefined) return textReply(404, '404 page not found\n');
        if (!accepts(context).some((form) => V3_FORMS.has(form))) {
          return { type: 'bytes', code: 406, contentType: '', body: '' };
        }
        const document = remote ? documents.remote(name, remote) : await documents.v3(served);
        const hash = context.info.query.first('hash') ?? '';
        if (hash === '') return serve(context, document, {});
        if (hash !== document.etag) {
          const Location = openApiV3Url(served.group, served.version, document.etag);
          return { type: 'empty', code: 301, headers: { Location } };
        }
        // The URL of the index carries the hash, so that it stands for this document for good.
        const expires = new Date(Date.now() + YEAR_MS).toUTCString();
        return serve(context, document, { 'Cache-Control': 'public, immutable', Expires: expires });
      },
    },
  ];
}
