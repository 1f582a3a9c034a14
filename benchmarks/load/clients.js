/** Clients of a server, over HTTP/1.1 or HTTP/2: `target.protocol`, as ALPN calls it. */

const http1 = require('./http1-connection');
const http2 = require('./http2-connection');

const protocols = { 'http/1.1': http1, h2: http2 };

const protocolOf = ({ protocol = 'http/1.1' }) => protocols[protocol];

/**
 * So many clients with one request under way each: over HTTP/1.1 each on a connection of its own, over HTTP/2 together on as
 * few as there can be. Each has
 *
 * - `send(encoded, { onHead, onBody })`, which resolves with `{ status, head, bytes }`: `encoded` is of
 *   {@link encodeRequest}, `onHead(status)` and `onBody(piece)` are called as the answer comes. `head` is the text of
 *   HTTP/1.1, and empty over HTTP/2.
 * - `close()`, also for those that share the connection
 */
async function openClients(target, count) {
  const { CLIENTS_PER_CONNECTION, open } = protocolOf(target);
  const needed = Math.ceil(count / CLIENTS_PER_CONNECTION);
  const connections = await someAtATime(Array.from({ length: needed }), () => open(target));
  return Array.from({ length: count }, (_, client) => connections[Math.floor(client / CLIENTS_PER_CONNECTION)]);
}

/** What a client sends for `{ method, path, headers, body }`. It can be sent any number of times. */
function encodeRequest(target, request) {
  const headers = {
    Authorization: `Bearer ${target.token}`,
    'User-Agent': 'sternpost-bench',
    Accept: 'application/json',
    ...request.headers,
  };
  return protocolOf(target).encodeRequest(target, { ...request, headers });
}

/** Like Promise.all, but does not have a server begin a thousand things at once. */
async function someAtATime(items, work) {
  const results = [];
  for (let start = 0; start < items.length; start += 50) {
    results.push(...(await Promise.all(items.slice(start, start + 50).map(work))));
  }
  return results;
}

module.exports = { encodeRequest, openClients, someAtATime };
