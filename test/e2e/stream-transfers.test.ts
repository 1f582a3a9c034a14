import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { Cp, Exec, KubeConfig, PortForward, type V1Status } from '@kubernetes/client-node';
import { WebSocket } from 'ws';
import { Kubectl } from '../support/kubectl';
import { StreamingCluster } from '../support/streaming-cluster';

/** Much at once, in both directions, and clients that read slowly. */

const MIB = 1024 * 1024;
const LARGE = 64 * MIB;
const POD = '/api/v1/namespaces/ns/pods/pod';

let cluster: StreamingCluster;
/** Answers with what it gets. */
let echo: Server;
let folder: string;

beforeAll(async () => {
  cluster = await StreamingCluster.start({});
  echo = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.pipe(socket);
  }).listen(0, '127.0.0.1');
  folder = mkdtempSync(join(tmpdir(), 'sternpost-transfers-'));
}, 60_000);

afterAll(async () => {
  await cluster.stop();
  await new Promise((resolve) => echo.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

function config(): KubeConfig {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(cluster.server.kubeconfig);
  return kubeConfig;
}

/** The checksum of so many bytes, once they are there. */
function summing(bytes: number): { readonly stream: Writable; readonly sum: Promise<string> } {
  const hash = createHash('sha256');
  let left = bytes;
  let resolve: (sum: string) => void;
  const sum = new Promise<string>((done) => (resolve = done));
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      hash.update(chunk);
      left -= chunk.length;
      if (left === 0) resolve(hash.digest('hex'));
      done();
    },
  });
  return { stream, sum };
}

/** Each is a message of the client. */
function inPieces(bytes: Buffer): Readable {
  const pieces = [];
  for (let start = 0; start < bytes.length; start += MIB) pieces.push(bytes.subarray(start, start + MIB));
  return Readable.from(pieces);
}

const sumOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

async function until(condition: () => boolean): Promise<void> {
  for (const end = Date.now() + 20_000; !condition() && Date.now() < end;)
    await new Promise((done) => setTimeout(done, 20));
}

describe('@kubernetes/client-node', () => {
  it('gets all of much input back from a command', async () => {
    const bytes = randomBytes(LARGE);
    const { stream, sum } = summing(LARGE);
    const ended = new Promise<V1Status>((resolve, reject) => {
      new Exec(config())
        .exec('ns', 'pod', 'main', ['cat'], stream, null, inPieces(bytes), false, resolve)
        .catch(reject);
    });
    expect((await ended).status).toBe('Success');
    expect(await sum).toBe(sumOf(bytes));
  }, 60_000);

  it('forwards a port, and all of much that goes through it', async () => {
    const bytes = randomBytes(LARGE);
    const { stream, sum } = summing(LARGE);
    const input = new PassThrough();
    const { port } = echo.address() as AddressInfo;
    const webSocket = await new PortForward(config()).portForward('ns', 'pod', [port], stream, null, input);
    input.write(bytes);
    expect(await sum).toBe(sumOf(bytes));
    (typeof webSocket === 'function' ? webSocket() : webSocket)?.close();
    await until(() => cluster.kubelet.openConnections === 0);
    expect(cluster.kubelet.openConnections).toBe(0);
  }, 60_000);

  // Its `cpFromPod` asks for a compressed archive and cannot read one: `kubectl cp` below copies out of containers.
  it('copies a folder into a container', async () => {
    for (const name of ['from', 'in']) mkdirSync(join(folder, name));
    const bytes = randomBytes(3 * MIB);
    writeFileSync(join(folder, 'from', 'file'), bytes);
    await new Cp(config()).cpToPod('ns', 'pod', 'main', join(folder, 'from'), join(folder, 'in'));
    const copied = join(folder, 'in', 'file');
    await until(() => statSync(copied, { throwIfNoEntry: false })?.size === bytes.length);
    expect(sumOf(readFileSync(copied))).toBe(sumOf(bytes));
  }, 60_000);
});

it.each([
  ['WebSocket', {}],
  ['SPDY', { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false' }],
])(
  'kubectl cp brings a large file in and out over %s',
  async (name, env) => {
    const kubectl = new Kubectl(cluster.server.kubeconfig);
    try {
      const bytes = randomBytes(LARGE);
      const source = join(folder, `source-${name}`);
      const inside = join(folder, `inside-${name}`);
      const back = join(folder, `back-${name}`);
      writeFileSync(source, bytes);
      await kubectl.run(['cp', source, `ns/pod:${inside}`], { env });
      expect(sumOf(readFileSync(inside))).toBe(sumOf(bytes));
      await kubectl.run(['cp', `ns/pod:${inside}`, back], { env });
      expect(sumOf(readFileSync(back))).toBe(sumOf(bytes));
    } finally {
      kubectl.remove();
    }
  },
  60_000,
);

it('holds up a container whose client does not read, and brings the rest when it does', async () => {
  const { url, token } = cluster.server;
  const webSocket = new WebSocket(
    `${url.replace('https', 'wss')}${POD}/exec?command=flood&command=${LARGE}&stdout=true`,
    ['v5.channel.k8s.io'],
    { rejectUnauthorized: false, headers: { authorization: `Bearer ${token}` } },
  );
  let output = 0;
  webSocket.on('message', (message: Buffer) => {
    if (message[0] === 1) output += message.length - 1;
  });
  const before = cluster.kubelet.writtenBytes;
  await once(webSocket, 'open');
  webSocket.pause();
  let seen = -1;
  let isStill = 0;
  while (isStill < 10) {
    const written = cluster.kubelet.writtenBytes - before;
    isStill = written > 0 && written === seen ? isStill + 1 : 0;
    seen = written;
    await new Promise((done) => setTimeout(done, 50));
  }
  // The buffers of two connections of the loopback interface, and little of the server's own.
  expect(seen).toBeLessThan(LARGE / 2);
  webSocket.resume();
  await once(webSocket, 'close');
  expect(output).toBe(LARGE);
}, 60_000);

describe('over HTTP/2', () => {
  it('says that there is no extended CONNECT, and that these requests need an upgrade', async () => {
    const session = connectHttp2(cluster.server.url, { rejectUnauthorized: false });
    try {
      await once(session, 'remoteSettings');
      expect(session.remoteSettings.enableConnectProtocol).toBeFalsy();
      const authorization = `Bearer ${cluster.server.token}`;
      for (const [method, path] of [
        ['POST', `${POD}/exec?command=echo&stdout=true`],
        ['POST', `${POD}/portforward`],
      ] as const) {
        const stream = session.request({ ':method': method, ':path': path, authorization });
        stream.end();
        let body = '';
        stream.on('data', (piece) => (body += String(piece)));
        const [head] = (await once(stream, 'response')) as [IncomingHttpHeaders];
        await once(stream, 'end');
        expect({ status: head[':status'], body: JSON.parse(body) as object }).toMatchObject({
          status: 400,
          body: { message: 'Upgrade request required' },
        });
      }
    } finally {
      session.destroy();
    }
  });
});
