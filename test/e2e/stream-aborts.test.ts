import { connect as connectTcp } from 'node:net';
import { connect } from 'node:tls';
import { ListenerCounts } from '../support/listener-counts';
import { StreamingCluster } from '../support/streaming-cluster';

/** Clients that leave at any moment. `STREAM_ABORTS` is how many; the suite has a few hundred. */

const ABORTS = Number(process.env.STREAM_ABORTS ?? 300);
const SEED = Number(process.env.STREAM_SEED ?? 25);
const AT_ONCE = 20;
const LONGEST_MS = 30;

let cluster: StreamingCluster;
/** That the kubelet is being asked for. */
let openLogs = 0;
const listeners = new ListenerCounts();

/** Numbers below 1 that look random and are the same for a seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const POD = '/api/v1/namespaces/ns/pods/pod';
const SPDY = 'Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n';
const WEB_SOCKET =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
  `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\nOrigin: https://page\r\nSec-WebSocket-Protocol: `;

const REQUESTS: readonly string[] = [
  `GET ${POD}/log?follow=true HTTP/1.1\r\n`,
  `POST ${POD}/exec?command=sleep&stdout=true&stdin=true HTTP/1.1\r\n${SPDY}`,
  `GET ${POD}/exec?command=sleep&stdout=true&stdin=true HTTP/1.1\r\n${WEB_SOCKET}v5.channel.k8s.io\r\n`,
  `GET ${POD}/exec?command=flood&command=100000000&stdout=true HTTP/1.1\r\n${WEB_SOCKET}v5.channel.k8s.io\r\n`,
  `GET ${POD}/exec?command=sleep&stdout=true HTTP/1.1\r\n${WEB_SOCKET}v4.channel.k8s.io\r\n`,
  `GET ${POD}/portforward?ports=80 HTTP/1.1\r\n${WEB_SOCKET}SPDY/3.1+portforward.k8s.io\r\n`,
  `GET /api/v1/nodes/node/proxy/endless HTTP/1.1\r\n`,
  `POST /api/v1/nodes/node/proxy/endless HTTP/1.1\r\nContent-Length: 100000000\r\n`,
  `GET /api/v1/namespaces/ns/pods?watch=1 HTTP/1.1\r\n${WEB_SOCKET}\r\n`,
];

function counts(): Readonly<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) found[name] = (found[name] ?? 0) + 1;
  return found;
}

/** But for the connection that logs share. */
function isKubeletLeft(): boolean {
  return openLogs === 0 && cluster.kubelet.openConnections <= 1;
}

async function until(condition: () => boolean): Promise<boolean> {
  for (const end = Date.now() + 20_000; Date.now() < end;) {
    if (condition()) return true;
    await new Promise((done) => setTimeout(done, 20));
  }
  return condition();
}

/** Sends a request and leaves after so long, whatever has come. */
function abortAfter(request: string, waitMs: number, isReset: boolean): Promise<void> {
  const url = new URL(cluster.server.url);
  return new Promise((resolve) => {
    const tcp = connectTcp(Number(url.port), '127.0.0.1');
    const socket = connect({ socket: tcp, rejectUnauthorized: false }, () => {
      socket.write(
        `${request.trimEnd()}\r\nHost: ${url.host}\r\nAuthorization: Bearer ${cluster.server.token}\r\n\r\n`.replace(
          'Sec-WebSocket-Protocol: \r\n',
          '',
        ),
      );
      setTimeout(() => (isReset ? tcp.resetAndDestroy() : socket.destroy()), waitMs);
    });
    socket.on('error', () => undefined);
    tcp.on('error', () => undefined).on('close', () => resolve());
    if (waitMs % 2 < 1) socket.resume();
  });
}

beforeAll(async () => {
  cluster = await StreamingCluster.start({
    writeLog: (response) => {
      openLogs += 1;
      response.on('close', () => (openLogs -= 1)).write('line\n');
    },
    onRequest: (request, response) => {
      request.resume();
      response.write('first\n');
    },
  });
}, 60_000);

afterAll(async () => {
  listeners.stop();
  await cluster.stop();
});

it(`leaves nothing behind (seed ${SEED})`, async () => {
  // What is kept for the next request is there from now on.
  await Promise.all(REQUESTS.map((request) => abortAfter(request, 50, false)));
  await until(isKubeletLeft);
  const before = counts();
  const listenersBefore = listeners.most();
  const random = randomFrom(SEED);
  for (let done = 0; done < ABORTS; done += AT_ONCE) {
    await Promise.all(
      Array.from({ length: AT_ONCE }, () => {
        const request = REQUESTS[Math.floor(random() * REQUESTS.length)]!;
        return abortAfter(request, random() * LONGEST_MS, random() < 0.3);
      }),
    );
  }
  expect(await until(isKubeletLeft)).toBe(true);
  const sockets = (found: Readonly<Record<string, number>>): number =>
    (found.TCPSocketWrap ?? 0) + (found.TLSSocketWrap ?? 0);
  await until(() => sockets(counts()) <= sockets(before) && (counts().Timeout ?? 0) <= (before.Timeout ?? 0));
  // Some of those before may have run out since.
  expect(sockets(counts())).toBeLessThanOrEqual(sockets(before));
  expect(counts().Timeout ?? 0).toBeLessThanOrEqual(before.Timeout ?? 0);
  // On whatever outlives a stream, each that stayed would add one.
  expect(listeners.most()).toBeLessThanOrEqual(listenersBefore + AT_ONCE);
}, 120_000);
