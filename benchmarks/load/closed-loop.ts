import { encodeRequest, openClients } from './clients';
import type { ClosedLoopJob, ClosedLoopResult, LoadRequest, OnceJob, OnceResult, Target } from './job';
import type { LoadConnection } from './load-connection';
import { summarize } from '../report/statistics';

/** Closed loop: every client sends its next request when it has its response. */
export async function closedLoop(job: ClosedLoopJob): Promise<ClosedLoopResult> {
  const { target, request, first = 0, numbers = Infinity, clients, maxRequests = Infinity, maxMs, warmUpMs = 0 } = job;
  const encoded = requestMaker(target, request, numbers);
  const open = await openClients(target, clients);
  let next = 0;
  let bytes = 0;
  let latencies: number[] = [];
  const statuses = [job.status].flat();
  let started = performance.now();
  const end = started + warmUpMs + maxMs;
  let warm = warmUpMs === 0;
  let finished = started;

  const run = async (client: LoadConnection) => {
    while (next < maxRequests && performance.now() < end) {
      const number = first + (next++ % numbers);
      const sent = performance.now();
      const response = await client.send(encoded(number));
      const now = performance.now();
      if (!statuses.includes(response.status)) {
        throw new Error(`${request.method} ${request.path}: status ${response.status}`);
      }
      if (!warm && now - started >= warmUpMs) {
        warm = true;
        started = now;
        latencies = [];
        bytes = 0;
        continue;
      }
      latencies.push(now - sent);
      bytes += response.bytes;
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
export function epochMs(): number {
  return performance.timeOrigin + performance.now();
}

/** Encodes requests; those that come again are encoded once. */
function requestMaker(target: Target, request: LoadRequest, numbers: number): (number: number) => Buffer {
  const { path, body } = request;
  const encode = (number: number) =>
    encodeRequest(target, {
      ...request,
      path: path.replaceAll('{n}', String(number)),
      ...(body !== undefined && {
        body: body.replaceAll('{n}', String(number)).replaceAll('{now}', epochMs().toFixed(3)),
      }),
    });
  const text = `${path}${body ?? ''}`;
  const different = text.includes('{n}') ? numbers : 1;
  if (text.includes('{now}') || different === Infinity) return encode;
  const known: Buffer[] = [];
  return (number) => (known[number % different] ??= encode(number));
}

/** One request, with its whole body as text: for checks and set-up. */
export async function once({ target, request }: OnceJob): Promise<OnceResult> {
  const [client] = await openClients(target, 1);
  if (client === undefined) throw new Error('there is no client');
  try {
    const pieces: Buffer[] = [];
    const onBody = (piece: Buffer) => void pieces.push(piece);
    const { status, head } = await client.send(encodeRequest(target, request), { onBody });
    return { status, head, body: Buffer.concat(pieces).toString('base64') };
  } finally {
    client.close();
  }
}
