import { once } from 'node:events';
import { get, type RequestOptions } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { PassThrough } from 'node:stream';
import { KubeConfig, PortForward } from '@kubernetes/client-node';
import { WebSocket } from 'ws';
import { Kubectl } from '../support/kubectl';
import { StreamingCluster } from '../support/streaming-cluster';

/** Of clients that do not read what they have asked for, only they themselves notice anything. */

const MIB = 1024 * 1024;
const POD = '/api/v1/namespaces/ns/pods/pod';
/** More than the buffers of two connections of the loopback interface hold. */
const MUCH = 64 * MIB;
const SOME = 4 * MIB;
/** Of what kubectl writes. */
const PRINTED = MIB / 2;

/** Of each log that is being written, the bytes that its connection has taken so far. */
const logs: { written: number }[] = [];

let cluster: StreamingCluster;
let kubectl: Kubectl;
let echo: Server;

beforeAll(async () => {
  cluster = await StreamingCluster.start({ writeLog });
  kubectl = new Kubectl(cluster.server.kubeconfig);
  echo = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.pipe(socket);
  }).listen(0, '127.0.0.1');
}, 60_000);

afterAll(async () => {
  kubectl.remove();
  await cluster.stop();
  await new Promise((resolve) => echo.close(resolve));
});

/** As many bytes as `limitBytes` says, as fast as they are taken. */
function writeLog(response: ServerResponse, query: URLSearchParams): void {
  const wanted = Number(query.get('limitBytes'));
  const log = { written: 0 };
  logs.push(log);
  const write = (): void => {
    while (log.written < wanted) {
      log.written += 64 * 1024;
      if (response.write(Buffer.alloc(64 * 1024, 'x'))) continue;
      response.once('drain', write);
      return;
    }
    response.end();
  };
  write();
}

function request(path: string): Promise<IncomingMessage> {
  const { url, token } = cluster.server;
  const options: RequestOptions = {
    rejectUnauthorized: false,
    agent: false,
    headers: { authorization: `Bearer ${token}` },
  };
  return new Promise((resolve, reject) => get(`${url}${path}`, options, resolve).on('error', reject));
}

async function readAll(response: IncomingMessage): Promise<number> {
  let bytes = 0;
  for await (const chunk of response) bytes += (chunk as Buffer).length;
  return bytes;
}

function flood(bytes: number): WebSocket {
  const { url, token } = cluster.server;
  const path = `${POD}/exec?command=flood&command=${bytes}&stdout=true`;
  return new WebSocket(`${url.replace('https', 'wss')}${path}`, ['v5.channel.k8s.io'], {
    rejectUnauthorized: false,
    headers: { authorization: `Bearer ${token}` },
  });
}

/** All that comes to standard output until the command has ended. */
async function outputOf(webSocket: WebSocket): Promise<number> {
  let bytes = 0;
  webSocket.on('message', (message: Buffer) => {
    if (message[0] === 1) bytes += message.length - 1;
  });
  await once(webSocket, 'close');
  return bytes;
}

/** When nothing has come for a while. */
async function stillness(count: () => number): Promise<number> {
  let seen = -1;
  for (let still = 0; still < 10;) {
    const now = count();
    still = now > 0 && now === seen ? still + 1 : 0;
    seen = now;
    await new Promise((done) => setTimeout(done, 50));
  }
  return seen;
}

async function forwarded(bytes: number): Promise<number> {
  const config = new KubeConfig();
  config.loadFromString(cluster.server.kubeconfig);
  const output = new PassThrough();
  const input = new PassThrough();
  const { port } = echo.address() as AddressInfo;
  const webSocket = await new PortForward(config).portForward('ns', 'pod', [port], output, null, input);
  input.write(Buffer.alloc(bytes, 'y'));
  let back = 0;
  for await (const chunk of output) {
    back += (chunk as Buffer).length;
    if (back >= bytes) break;
  }
  (typeof webSocket === 'function' ? webSocket() : webSocket)?.close();
  return back;
}

it('holds up no other stream and no request while some clients do not read theirs', async () => {
  const before = cluster.kubelet.writtenBytes;
  const unread = flood(MUCH);
  const output = outputOf(unread);
  await once(unread, 'open');
  unread.pause();
  const log = await request(`${POD}/log?follow=true&limitBytes=${MUCH}`);
  const held = await stillness(() => cluster.kubelet.writtenBytes - before);
  const heldLog = await stillness(() => logs[0]!.written);
  expect(held).toBeLessThan(MUCH);
  expect(heldLog).toBeLessThan(MUCH);

  const neighbours = await Promise.all([
    outputOf(flood(SOME)),
    forwarded(SOME),
    request(`${POD}/log?limitBytes=${SOME}`).then(readAll),
    kubectl
      .run(['exec', '-n', 'ns', 'pod', '--', 'flood', String(PRINTED)], {
        env: { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false' },
      })
      .then(({ stdout }) => stdout.length),
  ]);
  expect(neighbours).toEqual([SOME, SOME, SOME, PRINTED]);
  const pods = await request('/api/v1/namespaces/ns/pods');
  expect(pods.statusCode).toBe(200);
  await readAll(pods);
  // Of theirs, nothing has moved meanwhile.
  expect(cluster.kubelet.writtenBytes - before).toBe(held + SOME + PRINTED);
  expect(logs[0]!.written).toBe(heldLog);

  unread.resume();
  expect(await output).toBe(MUCH);
  expect(await readAll(log)).toBe(MUCH);
}, 60_000);
