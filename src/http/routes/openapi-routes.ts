import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { openApiV3Url } from '../../api/openapi/v3-document';
import { parseApiVersion } from '../../api/object';
import { takesGzip } from '../response/body-writer';
import type { RequestContext } from '../request/context';
import { isKnown } from '../response/entity-tag';
import { textResponse, type ApiResponse } from '../response/api-response';
import { bodyOf, OpenApiDocuments, type OpenApiDocument, type OpenApiSource } from './openapi-documents';
import type { NonResourceRoute } from './route';

const V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const V3_FORMS = new Set(['*/*', 'application/*', 'application/json']);
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;
const V2_FORMS = new Set(['*/*', 'application/*', 'application/json', V2_PROTOBUF]);

const compress = promisify(gzip);

function accepts(context: RequestContext): readonly string[] {
  const { accept } = context.request.headers;
  if (accept === undefined || accept === '') return ['*/*'];
  return accept.split(',').map((entry) => (entry.split(';')[0] ?? '').trim());
}

async function serve(
  context: RequestContext,
  document: OpenApiDocument,
  headers: Readonly<Record<string, string>>,
): Promise<ApiResponse> {
  const etag = `"${document.etag}"`;
  const common = { ...headers, ETag: etag, Vary: 'Accept-Encoding, Accept' };
  const { contentType } = document;
  if (isKnown(context.request, etag)) return { type: 'empty', code: 304, headers: common };
  if (!takesGzip(context.request.headers['accept-encoding'])) {
    return { type: 'bytes', code: 200, contentType, body: await bodyOf(document), headers: common };
  }
  document.gzipped ??= bodyOf(document).then((body) => compress(body));
  return {
    type: 'bytes',
    code: 200,
    contentType,
    body: await document.gzipped,
    headers: { ...common, 'Content-Encoding': 'gzip' },
  };
}

/** `/openapi/v2` and `/openapi/v3`. */
export function openApiRoutes(source: OpenApiSource): readonly NonResourceRoute[] {
  const documents = new OpenApiDocuments(source);
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
        if (served === undefined) return textResponse(404, '404 page not found\n');
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
