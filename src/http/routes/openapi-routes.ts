import { gzipSync } from 'node:zlib';
import { openApiHash, openApiV3Url, buildOpenApiV3, buildOpenApiV3Index } from '../../api/openapi/v3-document';
import { buildOpenApiV2, type DocumentInfo } from '../../api/openapi/v2-document';
import type { CustomSchemas } from '../../api/openapi/definitions';
import { encodeOpenApiV2 } from '../../api/openapi/v2-protobuf';
import type { KindDefinition } from '../../api/kinds/kind-definition';
import { parseApiVersion, type JsonObject } from '../../api/object';
import type { Schema } from '../../api/schema/model';
import { takesGzip } from '../body-writer';
import type { RequestContext } from '../context';
import type { NonResourceRoute } from '../dependencies';
import { isKnown } from '../entity-tag';
import { textReply, type Reply } from '../reply';

export interface OpenApiSource {
  readonly schema: Schema;
  readonly info: DocumentInfo;
  /** Changes whenever what is served changes: documents are kept until then. */
  readonly generation: () => number;
  readonly definitions: () => readonly KindDefinition[];
  /** Schemas of custom kinds. */
  readonly custom: () => CustomSchemas;
  /** Every group version that is served, the core one included. */
  readonly groupVersions: () => readonly { readonly group: string; readonly version: string }[];
}

const V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const V3_FORMS = new Set(['*/*', 'application/*', 'application/json']);
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;
const V2_FORMS = new Set(['*/*', 'application/*', 'application/json', V2_PROTOBUF]);

/** A document as it is sent; compressed when a client first asks for that. */
interface Document {
  readonly body: Buffer;
  readonly etag: string;
  readonly contentType: string;
  gzipped?: Buffer;
}

function accepts(context: RequestContext): readonly string[] {
  const { accept } = context.request.headers;
  if (accept === undefined || accept === '') return ['*/*'];
  return accept.split(',').map((entry) => (entry.split(';')[0] ?? '').trim());
}

function serve(context: RequestContext, document: Document, headers: Readonly<Record<string, string>>): Reply {
  const etag = `"${document.etag}"`;
  const common = { ...headers, ETag: etag, Vary: 'Accept-Encoding, Accept' };
  const { contentType } = document;
  if (isKnown(context.request, etag)) return { type: 'empty', code: 304, headers: common };
  if (!takesGzip(context.request.headers['accept-encoding'])) {
    return { type: 'bytes', code: 200, contentType, body: document.body, headers: common };
  }
  document.gzipped ??= gzipSync(document.body);
  return {
    type: 'bytes',
    code: 200,
    contentType,
    body: document.gzipped,
    headers: { ...common, 'Content-Encoding': 'gzip' },
  };
}

/** `/openapi/v2` and `/openapi/v3`: made when first asked for, then kept. */
export function openApiRoutes(source: OpenApiSource): readonly NonResourceRoute[] {
  let generation = -1;
  const documents = new Map<string, Document>();

  const remember = (key: string, contentType: string, print: () => Buffer): Document => {
    if (generation !== source.generation()) {
      documents.clear();
      generation = source.generation();
    }
    const known = documents.get(key);
    if (known !== undefined) return known;
    const body = print();
    const made: Document = { body, etag: openApiHash(body), contentType };
    documents.set(key, made);
    return made;
  };

  const v2 = (): JsonObject => buildOpenApiV2(source.schema, source.definitions(), source.info, source.custom());
  const v3 = (groupVersion: { readonly group: string; readonly version: string }): Document =>
    remember(`v3 ${groupVersion.group}/${groupVersion.version}`, 'application/json', () =>
      Buffer.from(
        JSON.stringify(buildOpenApiV3(source.schema, source.definitions(), groupVersion, source.info, source.custom())),
      ),
    );

  return [
    {
      path: '/openapi/v2',
      methods: 'any',
      handler: (context) => {
        const wanted = accepts(context).find((form) => V2_FORMS.has(form));
        if (wanted === undefined) return { type: 'bytes', code: 406, contentType: '', body: '' };
        const document =
          wanted === V2_PROTOBUF
            ? remember('v2 protobuf', 'application/octet-stream', () => encodeOpenApiV2(v2()))
            : remember('v2 json', 'text/plain; charset=utf-8', () => Buffer.from(JSON.stringify(v2())));
        return serve(context, document, {});
      },
    },
    {
      path: '/openapi/v3',
      methods: ['GET', 'HEAD'],
      handler: (context) => {
        const index = remember('v3 index', 'application/json', () =>
          Buffer.from(
            JSON.stringify(buildOpenApiV3Index(source.groupVersions().map((one) => ({ ...one, hash: v3(one).etag })))),
          ),
        );
        return serve(context, index, {});
      },
    },
    {
      path: '/openapi/v3/',
      prefix: true,
      unlisted: true,
      methods: ['GET', 'HEAD'],
      handler: (context) => {
        const name = context.info.path.slice('/openapi/v3/'.length).replace(/^apis?\//, '');
        const wanted = parseApiVersion(name);
        const served = source
          .groupVersions()
          .find(({ group, version }) => group === wanted.group && version === wanted.version);
        if (served === undefined) return textReply(404, '404 page not found\n');
        if (!accepts(context).some((form) => V3_FORMS.has(form))) {
          return { type: 'bytes', code: 406, contentType: '', body: '' };
        }
        const document = v3(served);
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
