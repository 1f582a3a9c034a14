import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import { createServer, type Server } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { WebSocketServer, type WebSocket } from 'ws';
import { SpdyServer, type SpdyStream } from './spdy-server';

export interface FakeKubeletOptions {
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
  /** As a real one does, beside HTTP/1.1. */
  readonly speaksHttp2?: boolean;
  /** What is answered over HTTP, besides logs. */
  readonly onRequest?: (request: IncomingMessage, response: ServerResponse) => void;
  /** For the log of a container, until its follower leaves. */
  readonly writeLog?: (response: ServerResponse, query: URLSearchParams) => void;
}

/** What a container is asked to run, and with which streams. */
interface Process {
  readonly command: readonly string[];
  stdin: { onData: (bytes: Buffer) => void; onEnd: () => void };
  stdout: (bytes: Buffer | string) => boolean;
  stderr: (bytes: Buffer | string) => void;
  /** With the exit code. */
  exit: (code: number) => void;
  onDrain: (resume: () => void) => void;
  onResize: (listener: (size: string) => void) => void;
}

/**
 * A kubelet for tests, with the protocols of a real one: logs, and exec, attach and port-forward over SPDY, and over WebSocket
 * with `v4.channel.k8s.io`. Its containers know `cat`, `complain`, `echo`, `exit`, `flood`, `size`, `sleep`, `tar` and `test`.
 */
export class FakeKubelet {
  readonly #server: Server | Http2SecureServer;
  readonly #sockets = new Set<Socket>();
  readonly #webSockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'v4.channel.k8s.io' });
  /** What was asked, by whom (the name in the client's certificate), on which connection, and whether its TLS session is an earlier one's. */
  readonly requests: {
    readonly method: string;
    readonly url: string;
    readonly httpVersion: string;
    readonly client: string;
    readonly clientPort: number | undefined;
    readonly isResumed: boolean;
    readonly headers: IncomingMessage['headers'];
  }[] = [];

  /** To standard output, by all processes. */
  writtenBytes = 0;

  constructor(private readonly options: FakeKubeletOptions) {
    const { certificate: cert, key, authority: ca, speaksHttp2 = true } = options;
    const tls = { cert, key, ca, requestCert: true, rejectUnauthorized: false };
    this.#server = speaksHttp2 ? createSecureServer({ ...tls, allowHTTP1: true }) : createServer(tls);
    // Both protocols' requests have what is asked for here.
    this.#server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#note(request);
      this.#respond(request, response);
    });
    this.#server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      this.#note(request);
      this.#upgrade(request, socket, head);
    });
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket)).on('error', () => undefined);
    });
    this.#server.on('secureConnection', (socket: TLSSocket) => socket.on('error', () => undefined));
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this.port;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #note(request: IncomingMessage): void {
    const { method = '', url = '', httpVersion, headers, socket } = request;
    const { subject } = (socket as TLSSocket).getPeerCertificate();
    const client = (subject as { CN?: string } | undefined)?.CN ?? '';
    const isResumed = (socket as TLSSocket).isSessionReused();
    this.requests.push({ method, url, httpVersion, client, clientPort: socket.remotePort, isResumed, headers });
  }

  #respond(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'https://kubelet');
    const { writeLog, onRequest } = this.options;
    if (pathname.startsWith('/containerLogs/') && writeLog !== undefined) writeLog(response, searchParams);
    else if (onRequest !== undefined) onRequest(request, response);
    else response.writeHead(404).end('404 page not found\n');
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const url = new URL(request.url ?? '/', 'https://kubelet');
    const isForward = url.pathname.startsWith('/portForward/');
    if (request.headers.upgrade === 'websocket') {
      this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
        if (isForward) forwardOverWebSocket(webSocket, url.searchParams.getAll('port').map(Number));
        else this.#run(overWebSocket(webSocket, url.searchParams.getAll('command')));
      });
      return;
    }
    const protocol = isForward ? 'portforward.k8s.io' : 'v4.channel.k8s.io';
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`,
    );
    if (head.length > 0) socket.unshift(head);
    if (isForward) forwardOverSpdy(socket);
    else execOverSpdy(socket, url.searchParams, (process) => this.#run(process));
  }

  #run(process: Process): void {
    const { stdout } = process;
    run({
      ...process,
      stdout: (bytes) => {
        this.writtenBytes += bytes.length;
        return stdout(bytes);
      },
    });
  }
}

function execOverSpdy(socket: Socket, query: URLSearchParams, start: (process: Process) => void): void {
  const streams = new Map<string, SpdyStream>();
  const wanted = ['error', ...(query.has('input') ? ['stdin'] : []), ...(query.has('output') ? ['stdout'] : [])];
  if (query.has('error') && !query.has('tty')) wanted.push('stderr');
  if (query.has('tty')) wanted.push('resize');
  const server = new SpdyServer(socket, (stream) => {
    streams.set(stream.headers.streamtype ?? '', stream);
    if (streams.size < wanted.length) return;
    const stdin = { onData: (_: Buffer) => undefined as void, onEnd: () => undefined as void };
    const process: Process = {
      command: query.getAll('command'),
      stdin,
      stdout: (bytes) => streams.get('stdout')?.write(bytes) ?? true,
      stderr: (bytes) => void streams.get('stderr')?.write(bytes),
      exit: (code) => {
        streams.get('error')?.write(exitStatus(code));
        for (const one of streams.values()) one.end();
        server.close();
      },
      onDrain: (resume) => void socket.once('drain', resume),
      onResize: (listener) => {
        const resize = streams.get('resize');
        if (resize !== undefined) resize.onData = (bytes) => listener(bytes.toString());
      },
    };
    const input = streams.get('stdin');
    if (input !== undefined) {
      input.onData = (bytes) => stdin.onData(bytes);
      input.onEnd = () => stdin.onEnd();
    }
    start(process);
  });
}

/** Each pair of streams is a connection to a port of the loopback interface, over when both have ended. */
function forwardOverSpdy(socket: Socket): void {
  const errors = new Map<string, SpdyStream>();
  new SpdyServer(socket, (stream) => {
    const { streamtype, requestid = '', port } = stream.headers;
    if (streamtype !== 'data') return void errors.set(requestid, stream);
    const target = connect(Number(port), '127.0.0.1');
    target.on('data', (bytes: Buffer) => {
      if (stream.write(bytes)) return;
      target.pause();
      socket.once('drain', () => target.resume());
    });
    const end = (): void => {
      stream.end();
      errors.get(requestid)?.end();
      errors.delete(requestid);
    };
    target.on('end', end).on('error', end);
    stream.onData = (bytes) => void target.write(bytes);
    stream.onEnd = () => void target.end();
    socket.on('close', () => target.destroy());
  });
}

/** Two channels for each port: what it sends and takes, and errors. Each begins with the port. */
function forwardOverWebSocket(webSocket: WebSocket, ports: readonly number[]): void {
  webSocket.on('error', () => undefined);
  const targets = ports.map((port, index) => {
    const start = Buffer.from([0, port & 0xff, port >> 8]);
    for (const channel of [2 * index, 2 * index + 1]) {
      start[0] = channel;
      webSocket.send(Buffer.from(start));
    }
    const target = connect(port, '127.0.0.1');
    target.on('data', (bytes: Buffer) => {
      target.pause();
      webSocket.send(Buffer.concat([Buffer.from([2 * index]), bytes]), () => target.resume());
    });
    target.on('end', () => webSocket.close(1000)).on('error', () => webSocket.close(1000));
    return target;
  });
  webSocket.on('message', (message: Buffer) => {
    const target = targets[message[0]! / 2];
    if (target === undefined || target.write(message.subarray(1))) return;
    webSocket.pause();
    target.once('drain', () => webSocket.resume());
  });
  webSocket.on('close', () => {
    for (const target of targets) target.destroy();
  });
}

function overWebSocket(webSocket: WebSocket, command: readonly string[]): Process {
  const send = (channel: number, bytes: Buffer | string): boolean => {
    webSocket.send(Buffer.concat([Buffer.from([channel]), Buffer.from(bytes as string)]));
    return true;
  };
  const process: Process = {
    command,
    stdin: { onData: () => undefined, onEnd: () => undefined },
    stdout: (bytes) => send(1, bytes),
    stderr: (bytes) => void send(2, bytes),
    exit: (code) => {
      send(3, exitStatus(code));
      webSocket.close(1000);
    },
    onDrain: (resume) => setImmediate(resume),
    onResize: () => undefined,
  };
  webSocket.on('error', () => undefined);
  webSocket.on('message', (message: Buffer) => {
    if (message[0] === 0 && message.length > 1) process.stdin.onData(message.subarray(1));
  });
  return process;
}

function run(process: Process): void {
  const [program = '', ...parameters] = process.command;
  switch (program) {
    case 'cat':
      process.stdin.onData = (bytes) => void process.stdout(bytes);
      process.stdin.onEnd = () => process.exit(0);
      return;
    case 'echo':
      process.stdout(`${parameters.join(' ')}\n`);
      return process.exit(0);
    case 'complain':
      process.stderr(`${parameters.join(' ')}\n`);
      return process.exit(1);
    case 'exit':
      return process.exit(Number(parameters[0] ?? 0));
    case 'size':
      process.onResize((size) => {
        process.stdout(size);
        process.exit(0);
      });
      return;
    case 'test':
      // Nothing is a folder: `kubectl cp` asks.
      return process.exit(1);
    case 'tar':
      return runTar(process, parameters);
    case 'flood':
      return flood(process, Number(parameters[0]));
    case 'sleep':
      // Until its client leaves.
      process.stdout('ready\n');
      return;
    default:
      process.stdout('ready\n');
      process.exit(0);
  }
}

/** The real one. */
function runTar(process: Process, parameters: readonly string[]): void {
  const tar = spawn('tar', parameters);
  process.stdin.onData = (bytes) => void tar.stdin.write(bytes);
  process.stdin.onEnd = () => void tar.stdin.end();
  tar.stdin.on('error', () => undefined);
  tar.stdout.on('data', (bytes: Buffer) => {
    if (process.stdout(bytes)) return;
    tar.stdout.pause();
    process.onDrain(() => tar.stdout.resume());
  });
  tar.stderr.on('data', (bytes: Buffer) => process.stderr(bytes));
  tar.on('close', (code) => process.exit(code ?? 1));
}

function flood(process: Process, bytes: number): void {
  const block = Buffer.alloc(64 * 1024, 'x');
  let left = bytes;
  const more = (): void => {
    while (left > 0) {
      const piece = block.subarray(0, Math.min(left, block.length));
      left -= piece.length;
      if (!process.stdout(piece)) return process.onDrain(more);
    }
    process.exit(0);
  };
  more();
}

function exitStatus(code: number): string {
  if (code === 0) return JSON.stringify({ metadata: {}, status: 'Success' });
  return JSON.stringify({
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: ${code}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  });
}
