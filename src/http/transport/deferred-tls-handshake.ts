import { Arrivals } from './arrivals';
import { divertConnections } from './divert-connections';
import type { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { PacedStarts } from '../../async/paced-starts';
import type { MemoryBudget } from '../../memory/memory-budget';
import { endAndLinger } from './linger';

export interface HandshakeOptions {
  /** A connection ended in silence, and not because the server closes. Called once for each. */
  readonly onFault: () => void;
  /** How long a client may say nothing, and then how long its handshake may take, in milliseconds. */
  readonly handshakeLimitMs?: number;
  /** Where it is written down what handshakes take. */
  readonly memory?: MemoryBudget;
  /** Shared with what keeps turns short while connections come. */
  readonly arrivals?: Arrivals;
}

/** As Go has it for kube-apiserver: the limit for reading a request's head. */
const HANDSHAKE_LIMIT_MS = 32_000;
/** What TLS takes for one that is under way, roughly. */
const HANDSHAKE_BYTES = 64 * 1024;
/** Of those that have to wait. TLS works them off after they were let in. */
const HANDSHAKES_AT_ONCE = 3;
/** While many connections come, handshakes go on in a turn this often. */
const PAUSE_MS = 20;
/** While the server closes: enough for the first bytes of a client that has just connected. */
const LAST_SILENCE_MS = 500;

/** Go's net/http knows the first five; no TLS record begins as any of them. */
const BEGINNINGS_OF_HTTP = new Set(['GET /', 'HEAD ', 'POST ', 'PUT /', 'OPTIO', 'PATCH', 'DELET']);
/** Go's words. */
const REFUSAL = 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n';

/**
 * Where the connections of a TLS server are until their first bytes have come; and which ends those whose handshake takes
 * too long. Node's own limit for a handshake begins anew with each byte.
 *
 * TLS that waits for bytes reads into a buffer of 64 KiB, which it keeps for as long as the connection lasts. TLS that is given
 * bytes makes a buffer for these, and 16 KiB when more follow than it holds. So a plain socket does the waiting.
 */
export class DeferredTlsHandshake {
  /** The silent ones, and those that are being refused. */
  readonly #sockets = new Set<Socket>();
  /** Those whose handshake is under way, by the client's address and port. */
  readonly #handshakes = new Map<string, Handshake>();
  /**
   * A handshake costs a signature: hundreds at once wait for each other, and other connections do not. Of one address the newest goes
   * first: who has waited for long is the first to give up, and one that comes to a flood of others does not wait for all of them.
   */
  readonly #starts: PacedStarts;
  readonly #arrivals: Arrivals;
  #isDraining = false;

  constructor(private readonly options: HandshakeOptions) {
    const arrivals = (this.#arrivals = options.arrivals ?? new Arrivals());
    this.#starts = new PacedStarts({
      mostAtOnce: () => HANDSHAKES_AT_ONCE,
      pauseMs: () => (arrivals.areMany ? PAUSE_MS : 0),
      isNewestFirst: true,
    });
  }

  /** Stands before what the server does with connections now. */
  attach(server: TlsServer): void {
    divertConnections(server, 'connection', (socket: Socket, pass) => {
      this.#arrivals.count();
      this.#hold(socket, () => {
        this.#limitHandshake(socket);
        pass();
      });
    });
    server.on('secureConnection', (socket: TLSSocket) => this.#handshakes.get(addressOf(socket))?.leave());
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
    for (const { socket } of [...this.#handshakes.values()]) socket.destroy();
  }

  #limitHandshake(socket: Socket): void {
    const address = addressOf(socket);
    const account = this.options.memory?.open(() => socket.destroy());
    const leave = (): void => {
      account?.close();
      clearTimeout(timer);
      socket.off('close', leave);
      if (this.#handshakes.get(address) === handshake) this.#handshakes.delete(address);
    };
    const handshake = { socket, leave };
    const timer = setTimeout(() => socket.destroy(), this.#limitMs);
    socket.on('close', leave);
    this.#handshakes.set(address, handshake);
    account?.hold(HANDSHAKE_BYTES);
  }

  get #limitMs(): number {
    return this.options.handshakeLimitMs ?? HANDSHAKE_LIMIT_MS;
  }

  #hold(socket: Socket, letIn: () => void): void {
    let isSilent = true;
    const { remoteAddress } = socket;
    const giveUp = (): void => {
      socket.destroy();
    };
    const onReadable = (): void => {
      const bytes = socket.read() as Buffer | null;
      // Nothing to read is the end of the stream.
      if (bytes === null) return giveUp();
      isSilent = false;
      socket.off('readable', onReadable);
      // No failed handshake, as for Go.
      if (isPlainHttp(bytes)) return endAndLinger(socket, REFUSAL);
      const goOn = (): void => {
        if (socket.destroyed) return;
        this.#sockets.delete(socket);
        socket.off('error', ignore).off('close', onClose).setTimeout(0, giveUp);
        socket.unshift(bytes);
        letIn();
      };
      if (this.#starts.mayBegin(performance.now())) goOn();
      // One host with thousands of connections waits for itself.
      else this.#starts.wait(remoteAddress, goOn);
    };
    const onClose = (): void => {
      this.#sockets.delete(socket);
      if (isSilent && !this.#isDraining) this.options.onFault();
    };
    this.#sockets.add(socket);
    socket.on('readable', onReadable).on('error', ignore).on('close', onClose);
    socket.setTimeout(this.#isDraining ? LAST_SILENCE_MS : this.#limitMs, giveUp);
  }
}

/** A few bytes may be the beginning of anything: TLS decides. */
function isPlainHttp(bytes: Buffer): boolean {
  return BEGINNINGS_OF_HTTP.has(bytes.toString('latin1', 0, 5));
}

interface Handshake {
  readonly socket: Socket;
  /** It has ended, well or badly. */
  readonly leave: () => void;
}

/** The same for a socket and for the TLS upon it. */
function addressOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** A socket that failed closes, which says enough. */
function ignore(): void {}
