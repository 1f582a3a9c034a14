import type { Socket } from 'node:net';

interface StreamHandle {
  readonly bytesWritten: number;
  /** Of TLS: what it has encrypted and cannot say yet that it was sent. */
  readonly writeQueueSize: number;
}

/** What Node keeps to itself. The test of idle connections fails when a release has it otherwise. */
interface OfConnection {
  readonly _handle?: StreamHandle | null;
  /** Of TLS: the connection below it. */
  readonly _parent?: { readonly _handle?: StreamHandle | null } | null;
}

/**
 * How many bytes a connection had given to the system when TLS had more and the system waited for none; otherwise undefined. The
 * same twice with turns of the event loop between: it will never write again. TLS sends tickets for sessions of its own accord, and
 * when these meet a client that has reset the connection, Node tells nobody and waits for the end of that write for ever. What it
 * reads then is a client that has said all and listens.
 */
export function stuckAfter(socket: Socket): number | undefined {
  if (socket.writableLength === 0) return undefined;
  const { _handle: tls, _parent: parent } = socket as unknown as OfConnection;
  const tcp = parent?._handle;
  if (!tls || !tcp) return undefined;
  return tls.writeQueueSize > 0 && tcp.writeQueueSize === 0 ? tcp.bytesWritten : undefined;
}
