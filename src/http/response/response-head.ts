import type { OutgoingHttpHeaders } from 'node:http';
import type { HttpResponse } from '../transport/exchange';

/**
 * Starts an answer. Nobody is to keep it, unless a header that was set before says otherwise. Headers that are all given
 * here cost a third of those that are set one by one.
 */
export function writeHead(response: HttpResponse, code: number, headers?: OutgoingHttpHeaders): void {
  response.writeHead(
    code,
    response.hasHeader('Cache-Control') ? headers : { 'Cache-Control': 'no-cache, private', ...headers },
  );
}
