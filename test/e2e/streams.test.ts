import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { createServer, connect, Socket, type AddressInfo, type Server } from 'node:net';
import type { IncomingMessage } from 'node:http';
import { connect as connectTls } from 'node:tls';
import { PassThrough, Writable } from 'node:stream';
import { Attach, Exec, KubeConfig, Log, type V1Status } from '@kubernetes/client-node';
import { WebSocket } from 'ws';
import { unmask } from '../../src/streams/mask-bytes';
import { HeaderFrames } from '../../src/streams/spdy-frames';
import { Kubectl, type KubectlResult } from '../support/kubectl';
import { StreamingCluster } from '../support/streaming-cluster';
import { until } from '../support/until';

/** What kubectl and other clients do with containers, through to a kubelet. */

let cluster: StreamingCluster;
let kubectl: Kubectl;
/** Answers in capitals. */
let echo: Server;

beforeAll(async () => {
  cluster = await StreamingCluster.start({
    writeLog: (response, query) => {
      response.write(`lines: ${query.get('tailLines') ?? 'all'}\n`);
      if (query.get('follow') !== 'true') response.end('end\n');
    },
    onRequest: (request, response) => {
      if (request.url === '/sum') {
        const isWanted = request.headers.te === 'trailers';
        response.setHeader('Trailer', 'X-Sum, Keep-Alive');
        response.write('body');
        response.addTrailers({ 'X-Sum': '4', 'X-Wanted': String(isWanted), 'Keep-Alive': 'no' });
        response.end();
        return;
      }
      response.setHeader('Content-Type', 'text/html');
      response.write(`<a href="/pods">${request.method}</a>`);
      request.pipe(response);
    },
  });
  kubectl = new Kubectl(cluster.server.kubeconfig);
  echo = createServer((socket) => {
    socket.on('data', (data) => socket.write(data.toString().toUpperCase()));
    socket.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
}, 60_000);

afterAll(async () => {
  kubectl.remove();
  await cluster.stop();
  await new Promise((resolve) => echo.close(resolve));
});

it('shows the log of a container', async () => {
  const { stdout } = await kubectl.run(['logs', '-n', 'ns', 'pod', '--tail=3']);
  expect(stdout).toBe('lines: 3\nend\n');
  expect(cluster.kubelet.requests.at(-1)).toMatchObject({
    url: '/containerLogs/ns/pod/main?tailLines=3',
    client: 'test',
  });
});

describe.each([
  ['WebSocket', {}],
  ['SPDY', { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' }],
])('over %s', (_, env) => {
  const exec = (command: readonly string[], input?: string): Promise<KubectlResult> =>
    kubectl.run(['exec', '-n', 'ns', 'pod', ...(input === undefined ? [] : ['-i']), '--', ...command], {
      env,
      ...(input === undefined ? {} : { input }),
    });

  it('runs a command in a container', async () => {
    expect(await exec(['echo', 'a  b'])).toEqual({ code: 0, stdout: 'a  b\n', stderr: '' });
  });

  it('passes on what the command writes to standard error, and its exit code', async () => {
    const { code, stderr, stdout } = await exec(['exit', '7']);
    expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
    expect(stderr).toContain('exit code 7');
    expect((await exec(['complain', 'no'])).stderr).toContain('no\n');
  });

  it('passes standard input on to its end', async () => {
    const input = 'line of text\n'.repeat(70_000);
    const { stdout } = await exec(['cat'], input);
    expect(stdout.length).toBe(input.length);
    expect(stdout === input).toBe(true);
  });

  it('attaches to what runs in a container', async () => {
    const { stdout } = await kubectl.run(['attach', '-n', 'ns', 'pod'], { env });
    expect(stdout).toContain('ready');
  });

  it('brings all of much output', async () => {
    expect((await exec(['flood', '800000'])).stdout.length).toBe(800_000);
  });

  it('forwards a port', async () => {
    const { port } = echo.address() as AddressInfo;
    const child = spawn('kubectl', ['port-forward', '-n', 'ns', 'pod/pod', `:${port}`], {
      env: { PATH: process.env.PATH, HOME: kubectl.folder, KUBECONFIG: kubectl.kubeconfig, ...env },
    });
    try {
      const local = await new Promise<number>((resolve, reject) => {
        let said = '';
        child.stdout.on('data', (piece) => {
          said += String(piece);
          const found = /127\.0\.0\.1:(\d+)/.exec(said)?.[1];
          if (found !== undefined) resolve(Number(found));
        });
        child.on('exit', () => reject(new Error(said)));
      });
      for (const text of ['one', 'two']) expect(await responseTo(local, text)).toBe(text.toUpperCase());
    } finally {
      child.kill();
    }
  });
});

function responseTo(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('error', reject).on('data', (data) => {
      resolve(data.toString());
      socket.destroy();
    });
  });
}

describe('@kubernetes/client-node', () => {
  function config(): KubeConfig {
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromString(cluster.server.kubeconfig);
    return kubeConfig;
  }

  function collector(): { readonly stream: Writable; readonly text: () => string } {
    let text = '';
    const stream = new Writable({
      write: (chunk, _encoding, done) => {
        text += String(chunk);
        done();
      },
    });
    return { stream, text: () => text };
  }

  it('runs a command, and ends its input', async () => {
    const input = new PassThrough();
    const output = collector();
    const ended = new Promise<V1Status>((resolve, reject) => {
      new Exec(config())
        .exec('ns', 'pod', 'main', ['cat'], output.stream, null, input, false, resolve)
        .then(() => input.end('typed'))
        .catch(reject);
    });
    expect((await ended).status).toBe('Success');
    expect(output.text()).toBe('typed');
  });

  it('attaches', async () => {
    const output = collector();
    const webSocket = await new Attach(config()).attach('ns', 'pod', 'main', output.stream, null, null, false);
    await new Promise((resolve) => webSocket.on('close', resolve));
    expect(output.text()).toBe('ready\n');
  });

  it('follows a log until it has enough', async () => {
    const log = new PassThrough();
    const controller = await new Log(config()).log('ns', 'pod', 'main', log, { follow: true, tailLines: 2 });
    const first = await new Promise((resolve) => log.once('data', (data) => resolve(String(data))));
    expect(first).toBe('lines: 2\n');
    log.on('error', () => undefined);
    controller.abort();
  });
});

describe.each([true, false])('logs of a kubelet that speaks HTTP/2: %s', (speaksHttp2) => {
  let other: StreamingCluster;

  beforeAll(async () => {
    other = await StreamingCluster.start({
      speaksHttp2,
      writeLog: (response, query) => {
        response.write(`lines: ${query.get('tailLines') ?? 'all'}\n`);
        if (!query.has('follow')) response.end();
      },
    });
  }, 60_000);

  afterAll(() => other.stop());

  it(`share a connection${speaksHttp2 ? '' : ', but for those that are followed'}`, async () => {
    const config = new KubeConfig();
    config.loadFromString(other.server.kubeconfig);
    const read = async (options: { follow?: boolean; tailLines?: number }) => {
      const log = new PassThrough().on('error', () => undefined);
      const controller = await new Log(config).log('ns', 'pod', 'main', log, options);
      const [line] = (await once(log, 'data')) as [Buffer];
      return { controller, line: String(line), asked: other.kubelet.requests.at(-1)! };
    };
    const whole = await read({ tailLines: 1 });
    expect(whole.line).toBe('lines: 1\n');
    expect(whole.asked).toMatchObject({ httpVersion: speaksHttp2 ? '2.0' : '1.1', client: 'test' });
    const followed = await read({ follow: true });
    expect(followed.line).toBe('lines: all\n');
    expect(followed.asked.clientPort === whole.asked.clientPort).toBe(speaksHttp2);
    const another = await read({ tailLines: 1 });
    expect(another.asked.clientPort).toBe(whole.asked.clientPort);
    followed.controller.abort();
  });
});

it('resumes its TLS session with a kubelet for the next stream', async () => {
  for (let run = 0; run < 2; run++) await kubectl.run(['exec', '-n', 'ns', 'pod', '--', 'echo', 'again']);
  expect(cluster.kubelet.requests.at(-1)).toMatchObject({ method: 'POST', client: 'test', isResumed: true });
});

describe('the keep-alive of TCP', () => {
  /** The connections that got it. */
  let kept: Set<Socket>;
  let spy: jest.SpyInstance;

  beforeEach(() => {
    kept = new Set();
    const setKeepAlive = Reflect.get(Socket.prototype, 'setKeepAlive');
    spy = jest.spyOn(Socket.prototype, 'setKeepAlive').mockImplementation(function (this: Socket, ...parameters) {
      if (parameters[0] === true) kept.add(this);
      return setKeepAlive.apply(this, parameters);
    });
  });

  afterEach(() => spy.mockRestore());

  it.each(['v4.channel.k8s.io', 'v5.channel.k8s.io'])('finds both ends of %s that have vanished', async (protocol) => {
    const url = `${cluster.server.url.replace('https', 'wss')}/api/v1/namespaces/ns/pods/pod/exec?command=sleep&stdout=1`;
    const options = { rejectUnauthorized: false, headers: { Authorization: `Bearer ${cluster.server.token}` } };
    const client = new WebSocket(url, protocol, options);
    await once(client, 'message');
    await until(
      () => Promise.resolve(kept.size),
      (size) => size >= 2,
    );
    const { port } = new URL(cluster.server.url);
    // The server's own end of the client's connection, and the one to the kubelet.
    expect([...kept].filter(({ localPort }) => localPort === Number(port))).toHaveLength(1);
    expect([...kept].filter(({ remotePort }) => remotePort === cluster.kubelet.port)).toHaveLength(1);
    client.terminate();
  });
});

it('changes links of pages behind a proxy', async () => {
  const { stdout } = await kubectl.run(['get', '--raw', '/api/v1/nodes/node/proxy/dir/page?q=1']);
  expect(stdout).toBe('<a href="/api/v1/nodes/node/proxy/pods">GET</a>');
  expect(cluster.kubelet.requests.at(-1)).toMatchObject({ method: 'GET', url: '/dir/page?q=1' });
});

it('passes a body on', async () => {
  const body = JSON.stringify({ kind: 'Thing', apiVersion: 'v1', text: 'x'.repeat(500_000) });
  const { stdout } = await kubectl.run(['create', '--raw', '/api/v1/nodes/node/proxy/run', '-f', '-'], { input: body });
  expect(stdout).toBe(`<a href="/api/v1/nodes/node/proxy/pods">POST</a>${body}`);
});

describe('the trailers of a proxied response', () => {
  const path = '/api/v1/nodes/node/proxy/sum';
  const headers = (): Record<string, string> => ({ Authorization: `Bearer ${cluster.server.token}`, TE: 'trailers' });

  it('come over HTTP/1.1, but none that frames a message', async () => {
    const request = httpsRequest(cluster.server.url + path, { headers: headers(), rejectUnauthorized: false }).end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    let body = '';
    response.on('data', (piece) => (body += String(piece)));
    await once(response, 'end');
    expect({ body, announced: response.headers.trailer, trailers: response.trailers }).toEqual({
      body: 'body',
      announced: 'X-Sum',
      trailers: { 'x-sum': '4', 'x-wanted': 'true' },
    });
  });

  it('come over HTTP/2', async () => {
    const session = connectHttp2(cluster.server.url, { rejectUnauthorized: false });
    try {
      const stream = session.request({ ':path': path, ...headers() });
      let body = '';
      let trailers: IncomingHttpHeaders = {};
      stream.on('data', (piece) => (body += String(piece)));
      stream.on('trailers', (came: IncomingHttpHeaders) => (trailers = came));
      const [head] = (await once(stream, 'response')) as [IncomingHttpHeaders];
      await once(stream, 'end');
      expect({ body, announced: head.trailer, trailers: Object.entries(trailers) }).toEqual({
        body: 'body',
        announced: 'X-Sum',
        trailers: [
          ['x-sum', '4'],
          ['x-wanted', 'true'],
        ],
      });
    } finally {
      session.destroy();
    }
  });
});

it('carries the SPDY of a port-forward over WebSocket', async () => {
  const socket = connectTls({ port: Number(new URL(cluster.server.url).port), rejectUnauthorized: false });
  try {
    socket.write(
      'GET /api/v1/namespaces/ns/pods/pod/portforward HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\n` +
        `Sec-WebSocket-Protocol: SPDY/3.1+portforward.k8s.io\r\nAuthorization: Bearer ${cluster.server.token}\r\n\r\n`,
    );
    const [response] = (await once(socket, 'data')) as [Buffer];
    expect(response.toString('latin1')).toMatch(/^HTTP\/1\.1 101 /);
    expect(response.toString('latin1')).toContain('Sec-WebSocket-Protocol: SPDY/3.1+portforward.k8s.io\r\n');
    const headers = new HeaderFrames();
    const frame = headers.synStream(1, { streamtype: 'data', port: '1', requestid: '0' });
    const mask = Buffer.from([1, 2, 3, 4]);
    unmask(frame, mask);
    // A binary message, masked.
    socket.write(Buffer.concat([Buffer.from([0x82, 0x80 | frame.length]), mask, frame]));
    const [reply] = (await once(socket, 'data')) as [Buffer];
    // A binary message with the SYN_REPLY.
    expect([reply[0], reply.readUInt16BE(4)]).toEqual([0x82, 2]);
  } finally {
    socket.destroy();
  }
});
