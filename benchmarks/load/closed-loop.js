const { encodeRequest, openClients } = require('./clients');
const { summarize } = require('../report/statistics');

/**
 * Closed loop: every client sends its next request when it has its answer. A job is plain data:
 *
 * - `target`: `{ host, port, token, protocol }`; see clients.js
 * - `request`: `{ method, path, headers, body }`; `{n}` in path and body stands for a number that counts up,
 *   `{now}` in the body for the time of sending
 * - `first`, `numbers`: the numbers are first, first + 1 ... and begin anew after `numbers`
 * - `clients`, `maxRequests`, `maxMs`; `warmUpMs` is not counted
 * - `status`: what every answer must have, or a list of what it may have; anything else fails the job
 *
 * Gives requests a second, bytes of bodies a second, and milliseconds of latency.
 */
async function closedLoop(job) {
  const { target, request, first = 0, numbers = Infinity, clients, maxRequests = Infinity, maxMs, warmUpMs = 0 } = job;
  const encoded = requestMaker(target, request, numbers);
  const open = await openClients(target, clients);
  let next = 0;
  let bytes = 0;
  let latencies = [];
  let started = performance.now();
  const end = started + warmUpMs + maxMs;
  let warm = warmUpMs === 0;
  let finished = started;

  const run = async (client) => {
    while (next < maxRequests && performance.now() < end) {
      const number = first + (next++ % numbers);
      const sent = performance.now();
      const answer = await client.send(encoded(number));
      const now = performance.now();
      if (answer.status !== job.status && !job.status.includes?.(answer.status))
        throw new Error(`${request.method} ${request.path}: answered ${answer.status}`);
      if (!warm && now - started >= warmUpMs) {
        warm = true;
        started = now;
        latencies = [];
        bytes = 0;
        continue;
      }
      latencies.push(now - sent);
      bytes += answer.bytes;
      finished = now;
    }
  };
  try {
    await Promise.all(open.map(run));
  } finally {
    for (const client of open) client.close();
  }
  const seconds = (finished - started) / 1000;
  return {
    requests: latencies.length,
    used: next,
    perSecond: latencies.length / seconds,
    bytesPerSecond: bytes / seconds,
    ...summarize(latencies),
  };
}

/** Milliseconds since 1970, finer than Date.now. */
function epochMs() {
  return performance.timeOrigin + performance.now();
}

/** Encodes requests; those that come again are encoded once. */
function requestMaker(target, request, numbers) {
  const { path, body } = request;
  const encode = (number) =>
    encodeRequest(target, {
      ...request,
      path: path.replaceAll('{n}', String(number)),
      body: body?.replaceAll('{n}', String(number)).replaceAll('{now}', epochMs().toFixed(3)),
    });
  const text = `${path}${body ?? ''}`;
  const different = text.includes('{n}') ? numbers : 1;
  if (text.includes('{now}') || different === Infinity) return encode;
  const known = [];
  return (number) => (known[number % different] ??= encode(number));
}

/** One request, with its whole body as text: for checks and set-up. */
async function once({ target, request }) {
  const [client] = await openClients(target, 1);
  try {
    const pieces = [];
    const onBody = (piece) => pieces.push(piece);
    const { status, head } = await client.send(encodeRequest(target, request), { onBody });
    return { status, head, body: Buffer.concat(pieces).toString('base64') };
  } finally {
    client.close();
  }
}

module.exports = { closedLoop, epochMs, once };
