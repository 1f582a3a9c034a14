/** They belong to a connection of HTTP/1.1: no request may have them, and no answer gets them (RFC 9113, 8.2.2). */
export const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);
