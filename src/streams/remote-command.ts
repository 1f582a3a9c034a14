import type { Socket } from 'node:net';
import { closeWebSocket, CLOSE_GOING_AWAY, CLOSE_NORMAL, type AcceptedWebSocket } from './accept-web-socket';
import { Backpressure, MAX_WAITING_BYTES } from './backpressure';
import { gatherWrites } from './gathered-writes';
import { endBackend } from './last-bytes';
import {
  dataHead,
  FLAG_FIN,
  FrameType,
  goAwayFrame,
  HeaderFrames,
  MAX_DATA_BYTES,
  pingFrame,
  SpdyReader,
} from './spdy-frames';

/** The first byte of each message of `v5.channel.k8s.io`. */
export const Channel = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

/** Protocols of exec and attach over SPDY, the best first. The first one has a Status in its error stream, the others text. */
export const SPDY_PROTOCOLS = ['v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io', 'channel.k8s.io'];

/** The streams that a client has asked for. */
export interface WantedStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** What a process is told about its end. */
const MAX_STATUS_BYTES = 64 * 1024;

/** For the kubelet to open all streams. */
const OPENING_MS = 30_000;

type StreamName = 'error' | 'stdin' | 'stdout' | 'stderr' | 'resize';

interface Stream {
  readonly id: number;
  readonly name: StreamName;
  hasReply: boolean;
  /** The kubelet has no more for it. */
  isOver: boolean;
  /** We have no more for it. */
  isEnded: boolean;
}

/**
 * Between a client that speaks `v5.channel.k8s.io` over WebSocket and a kubelet that speaks SPDY: channels become streams. Ends
 * when the kubelet has said how the command ended, or when either side is gone.
 */
export class RemoteCommand {
  readonly #streams: readonly Stream[];
  readonly #toClient: Backpressure;
  readonly #toKubelet: Backpressure;
  readonly #frames = new HeaderFrames();
  readonly #reader = new SpdyReader({
    control: (type, flags, payload) => this.#control(type, flags, payload),
    data: (id, bytes, isLast) => this.#data(id, bytes, isLast),
  });
  readonly #status: Buffer[] = [];
  #statusBytes = 0;
  #isOver = false;
  #opening: NodeJS.Timeout | undefined;

  constructor(
    private readonly client: AcceptedWebSocket,
    private readonly kubelet: Socket,
    /** The kubelet's choice among {@link SPDY_PROTOCOLS}. */
    private readonly protocol: string,
    wanted: WantedStreams,
  ) {
    this.#toClient = new Backpressure(kubelet, client.socket, client.memory);
    this.#toKubelet = new Backpressure(client.webSocket, kubelet, client.memory);
    const names = streamNames(wanted);
    this.#streams = names.map((name, index) => ({
      id: 2 * index + 1,
      name,
      hasReply: false,
      isOver: false,
      isEnded: false,
    }));
  }

  start(head: Buffer): void {
    const { kubelet, client } = this;
    const { webSocket } = client;
    kubelet.on('error', ignore).on('close', () => this.#finish());
    kubelet.on('data', (chunk: Buffer) => this.#read(chunk));
    kubelet.on('end', () => this.#finish());
    // A stream takes nothing before its reply: until then the client is not read.
    this.#opening = setTimeout(() => kubelet.destroy(), OPENING_MS);
    webSocket.on('message', (message: Buffer) => this.#message(message));
    webSocket.on('close', () => {
      this.#isOver = true;
      clearTimeout(this.#opening);
      endBackend(kubelet);
    });
    kubelet.write(Buffer.concat(this.#streams.map(({ id, name }) => this.#frames.synStream(id, { streamtype: name }))));
    if (head.length > 0) this.#read(head);
  }

  /** The server goes down. */
  close(): void {
    this.#isOver = true;
    clearTimeout(this.#opening);
    this.kubelet.destroy();
    closeWebSocket(this.client, CLOSE_GOING_AWAY);
  }

  #read(chunk: Buffer): void {
    if (this.#isOver) return;
    try {
      this.#reader.push(chunk);
    } catch {
      this.#finish();
    }
  }

  #control(type: number, flags: number, payload: Buffer): void {
    switch (type) {
      case FrameType.SYN_REPLY:
        return this.#replied(this.#streamOf(payload), (flags & FLAG_FIN) !== 0);
      case FrameType.RST_STREAM:
        return this.#over(this.#streamOf(payload));
      case FrameType.HEADERS:
        if ((flags & FLAG_FIN) !== 0) this.#over(this.#streamOf(payload));
        return;
      case FrameType.PING: {
        // Our own have odd numbers, and there are none.
        const id = payload.length < 4 ? 1 : payload.readUInt32BE(0);
        if (id % 2 === 0) this.#replyToPing(id);
      }
    }
  }

  /** A kubelet that asks and does not read the replies would have them all kept. */
  #replyToPing(id: number): void {
    if (this.kubelet.writableLength > MAX_WAITING_BYTES) return void this.kubelet.destroy();
    // Thousands may come at once.
    gatherWrites(this.kubelet);
    this.kubelet.write(pingFrame(id));
  }

  #streamOf(payload: Buffer): Stream | undefined {
    const id = payload.length < 4 ? 0 : payload.readUInt32BE(0);
    return this.#streams.find((stream) => stream.id === id);
  }

  #replied(stream: Stream | undefined, isLast: boolean): void {
    if (stream === undefined) return;
    stream.hasReply = true;
    if (this.#streams.every(({ hasReply }) => hasReply)) {
      clearTimeout(this.#opening);
      this.client.webSocket.resume();
    }
    if (isLast) this.#over(stream);
  }

  #data(id: number, bytes: Buffer, isLast: boolean): void {
    const stream = this.#streams.find((one) => one.id === id);
    if (stream === undefined || stream.isOver) return;
    if (stream.name === 'error') this.#keepStatus(bytes);
    else if (bytes.length > 0) this.#send(stream.name, bytes);
    if (isLast) this.#over(stream);
  }

  #send(name: StreamName, bytes: Buffer): void {
    const { webSocket, socket } = this.client;
    gatherWrites(socket);
    webSocket.send(Buffer.concat([CHANNEL_BYTES[name], bytes]), { binary: true });
    this.#toClient.wrote(bytes.length);
  }

  #keepStatus(bytes: Buffer): void {
    if (this.#statusBytes + bytes.length > MAX_STATUS_BYTES) return;
    this.#statusBytes += bytes.length;
    this.#status.push(Buffer.from(bytes));
  }

  /** When all that the process writes has come, and how it ended, there is no more to say. */
  #over(stream: Stream | undefined): void {
    if (stream === undefined) return;
    stream.isOver = true;
    if (this.#streams.every(({ name, isOver }) => isOver || name === 'stdin' || name === 'resize')) this.#finish();
  }

  #message(message: Buffer): void {
    if (this.#isOver || message.length === 0) return;
    const channel = message[0]!;
    if (channel === Channel.close) {
      if (message[1] === Channel.stdin) this.#endInput();
    } else if (message.length > 1) {
      if (channel === Channel.stdin) this.#write('stdin', message.subarray(1));
      else if (channel === Channel.resize) this.#write('resize', message.subarray(1));
    }
  }

  #write(name: StreamName, bytes: Buffer): void {
    const stream = this.#streams.find((one) => one.name === name);
    if (stream === undefined || stream.isEnded || this.kubelet.destroyed || bytes.length > MAX_DATA_BYTES) return;
    gatherWrites(this.kubelet);
    this.kubelet.write(dataHead(stream.id, bytes.length, false));
    this.kubelet.write(bytes);
    this.#toKubelet.wrote(bytes.length);
  }

  /** The only way to end input over WebSocket without ending all. */
  #endInput(): void {
    const stream = this.#streams.find(({ name }) => name === 'stdin');
    if (stream === undefined || stream.isEnded || this.kubelet.destroyed) return;
    stream.isEnded = true;
    this.kubelet.write(dataHead(stream.id, 0, true));
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#opening);
    this.client.webSocket.send(Buffer.concat([CHANNEL_BYTES.error, Buffer.from(this.#outcome())]), { binary: true });
    closeWebSocket(this.client, CLOSE_NORMAL);
    if (!this.kubelet.destroyed) {
      this.kubelet.write(goAwayFrame(0));
      endBackend(this.kubelet);
    }
  }

  #outcome(): string {
    const text = Buffer.concat(this.#status).toString('utf8');
    const isComplete = this.#streams.some(({ name, isOver }) => name === 'error' && isOver);
    if (text === '') {
      return isComplete ? SUCCESS : failureStatus('error reading from error stream: unexpected EOF');
    }
    return this.protocol === SPDY_PROTOCOLS[0] ? text : failureStatus(text);
  }
}

function streamNames({ stdin, stdout, stderr, tty }: WantedStreams): readonly StreamName[] {
  return [
    'error',
    ...(stdin ? (['stdin'] as const) : []),
    ...(stdout ? (['stdout'] as const) : []),
    // A terminal has one output.
    ...(stderr && !tty ? (['stderr'] as const) : []),
    ...(tty ? (['resize'] as const) : []),
  ];
}

const CHANNEL_BYTES: Readonly<Record<StreamName, Buffer>> = {
  stdin: Buffer.from([Channel.stdin]),
  stdout: Buffer.from([Channel.stdout]),
  stderr: Buffer.from([Channel.stderr]),
  error: Buffer.from([Channel.error]),
  resize: Buffer.from([Channel.resize]),
};

const SUCCESS = JSON.stringify({ metadata: {}, status: 'Success' });

/** How a command that could not be run, or followed to its end, ended: the text of a Status. */
export function failureStatus(message: string): string {
  return JSON.stringify({
    metadata: {},
    status: 'Failure',
    message: `Internal error occurred: ${message}`,
    reason: 'InternalError',
    details: { causes: [{ message }] },
    code: 500,
  });
}

/** Tells a client of {@link Channel} that nothing came of its command. */
export function refuseCommand(client: AcceptedWebSocket, message: string): void {
  client.webSocket.send(Buffer.concat([CHANNEL_BYTES.error, Buffer.from(failureStatus(message))]), { binary: true });
  closeWebSocket(client, CLOSE_NORMAL);
}

/** Tells a client that it is connected, by an empty message on the first channel that it reads. */
export function greet({ webSocket }: AcceptedWebSocket, { stdout, stderr, tty }: WantedStreams): void {
  const name = stdout ? 'stdout' : stderr && !tty ? 'stderr' : 'error';
  webSocket.send(CHANNEL_BYTES[name], { binary: true });
}

function ignore(): void {}
