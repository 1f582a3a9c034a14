const { Connection, requestBytes } = require('./connection');
const { summarize } = require('../report/statistics');

/**
 * Closed loop: every connection sends its next request when it has its answer. A job is plain data:
 *
 * - `target`: `{ host, port, token }`
 * - `request`: `{ method, path, headers, body }`; `{n}` in path and body stands for a number that counts up,
 *   `{now}` in the body for the time of sending
 * - `first`, `numbers`: the numbers are first, first + 1 ... and begin anew after `numbers`
 * - `connections`, `maxRequests`, `maxMs`; `warmUpMs` is not counted
 * - `status`: what every answer must have; anything else fails the job
 *
 * Gives requests a second, bytes of bodies a second, and milliseconds of latency.
 */
async function closedLoop(job) {
  const {
    target,
    request,
    first = 0,
    numbers = Infinity,
    connections,
    maxRequests = Infinity,
    maxMs,
    warmUpMs = 0,
  } = job;
  const makeBytes = requestMaker(target, request);
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(target)));
  let next = 0;
  let bytes = 0;
  let latencies = [];
  let started = performance.now();
  const end = started + warmUpMs + maxMs;
  let warm = warmUpMs === 0;
  let finished = started;

  const run = async (connection) => {
    while (next < maxRequests && performance.now() < end) {
      const number = first + (next++ % numbers);
      const sent = performance.now();
      const answer = await connection.send(makeBytes(number));
      const now = performance.now();
      if (answer.status !== job.status) throw new Error(`${request.method} ${request.path}: answered ${answer.status}`);
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
    for (const connection of open) connection.close();
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

/** Requests without a number or time are made once. */
function requestMaker(target, request) {
  if (!/\{n(ow)?\}/.test(`${request.path}${request.body ?? ''}`)) {
    const bytes = requestBytes(target, request);
    return () => bytes;
  }
  return (number) =>
    requestBytes(target, {
      ...request,
      path: request.path.replaceAll('{n}', String(number)),
      body: request.body?.replaceAll('{n}', String(number)).replaceAll('{now}', epochMs().toFixed(3)),
    });
}

/** One request, with its whole body as text: for checks and set-up. */
async function once({ target, request }) {
  const connection = await Connection.open(target);
  try {
    const pieces = [];
    const answer = await connection.send(requestMaker(target, request)(0), (piece) => pieces.push(piece));
    return { status: answer.status, head: answer.head, body: Buffer.concat(pieces).toString('base64') };
  } finally {
    connection.close();
  }
}

module.exports = { closedLoop, epochMs, once };
