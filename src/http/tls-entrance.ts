import type { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';

export interface EntranceOptions {
  /** A connection ended in silence, and not because the server closes. Called once for each. */
  readonly onFault: () => void;
  /** How long a client may say nothing, in milliseconds. */
  readonly silenceLimitMs?: number;
}

/** What Node gives a handshake, which it begins to count with the first bytes. */
const SILENCE_LIMIT_MS = 120_000;
/** While the server closes: enough for the first bytes of a client that has just connected. */
const LAST_SILENCE_MS = 500;
/** Enough for an answer to arrive and for what was sent meanwhile. */
const LINGER_MS = 1_000;

/** Go's net/http knows the first five; no TLS record begins as any of them. */
const BEGINNINGS_OF_HTTP = new Set(['GET /', 'HEAD ', 'POST ', 'PUT /', 'OPTIO', 'PATCH', 'DELET']);
/** Go's words. */
const REFUSAL = 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n';

/**
 * Where the connections of a TLS server are until their first bytes have come.
 *
 * TLS that waits for bytes reads into a buffer of 64 KiB, which it keeps for as long as the connection lasts. TLS that is given
 * bytes makes a buffer for these, and 16 KiB when more follow than it holds. So a plain socket does the waiting.
 */
export class TlsEntrance {
  /** The silent ones, and those that are being refused. */
  readonly #sockets = new Set<Socket>();
  #isDraining = false;

  constructor(private readonly options: EntranceOptions) {}

  /** Stands before what the server does with connections now. */
  attach(server: TlsServer): void {
    const others = server.listeners('connection') as ((socket: Socket) => void)[];
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      this.#hold(socket, () => {
        for (const listener of others) listener.call(server, socket);
      });
    });
  }

  /** From now on clients have to be quick, so that a server can close. */
  drain(): void {
    this.#isDraining = true;
    for (const socket of this.#sockets) socket.setTimeout(LAST_SILENCE_MS);
  }

  /** Ends the connections that are here, at once. */
  destroy(): void {
    this.#isDraining = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  #hold(socket: Socket, letIn: () => void): void {
    let isSilent = true;
    const giveUp = (): void => {
      socket.destroy();
    };
    const onReadable = (): void => {
      const bytes = socket.read() as Buffer | null;
      // Nothing to read is the end of the stream.
      if (bytes === null) return giveUp();
      isSilent = false;
      socket.off('readable', onReadable);
      if (isPlainHttp(bytes)) return refuse(socket);
      this.#sockets.delete(socket);
      socket.off('error', ignore).off('close', onClose).setTimeout(0, giveUp);
      socket.unshift(bytes);
      letIn();
    };
    const onClose = (): void => {
      this.#sockets.delete(socket);
      if (isSilent && !this.#isDraining) this.options.onFault();
    };
    this.#sockets.add(socket);
    socket.on('readable', onReadable).on('error', ignore).on('close', onClose);
    const { silenceLimitMs = SILENCE_LIMIT_MS } = this.options;
    socket.setTimeout(this.#isDraining ? LAST_SILENCE_MS : silenceLimitMs, giveUp);
  }
}

/** A few bytes may be the beginning of anything: TLS decides. */
function isPlainHttp(bytes: Buffer): boolean {
  return BEGINNINGS_OF_HTTP.has(bytes.toString('latin1', 0, 5));
}

/**
 * Goes on reading: a connection that is closed with input unread is reset, and its client may lose the answer. No failed
 * handshake, as for Go.
 */
function refuse(socket: Socket): void {
  socket.end(REFUSAL);
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.on('close', () => clearTimeout(timer));
}

/** A socket that failed closes, which says enough. */
function ignore(): void {}
