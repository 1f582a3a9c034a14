import type { OutgoingHttpHeaders } from 'node:http';
import type { HttpResponse } from '../transport/exchange';

/**
 * Starts an answer. It is not to be cached, unless a header that was set before says otherwise. Headers that are all given
 * here cost a third of those that are set one by one.
 */
export function writeHead(response: HttpResponse, code: number, headers?: OutgoingHttpHeaders): void {
  response.writeHead(
    code,
    response.hasHeader('Cache-Control') ? withFlow(response, headers) : uncached(response, headers),
  );
}

function uncached({ flow }: HttpResponse, headers: OutgoingHttpHeaders | undefined): OutgoingHttpHeaders {
  if (flow === undefined) return { 'Cache-Control': 'no-cache, private', ...headers };
  return {
    'Cache-Control': 'no-cache, private',
    'X-Kubernetes-Pf-Flowschema-Uid': flow.schemaUid,
    'X-Kubernetes-Pf-Prioritylevel-Uid': flow.levelUid,
    ...headers,
  };
}

function withFlow({ flow }: HttpResponse, headers: OutgoingHttpHeaders | undefined): OutgoingHttpHeaders | undefined {
  if (flow === undefined) return headers;
  return {
    'X-Kubernetes-Pf-Flowschema-Uid': flow.schemaUid,
    'X-Kubernetes-Pf-Prioritylevel-Uid': flow.levelUid,
    ...headers,
  };
}
