import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * What node:http keeps to itself, and what is told of it nowhere else: which response a connection is writing, which parser reads it and how,
 * and which connections are in the middle of a request. The test beside this fails when a release of Node has it otherwise.
 */

interface OfConnection {
  readonly _httpMessage?: ServerResponse | null;
  readonly parser?: Parser | null;
  readonly _handle?: { _consumed?: boolean } | null;
}

export interface Parser {
  pause?: () => void;
}

/** A connection on which a request is arriving, and the request once its head is there. */
export interface Arriving {
  readonly socket: Socket | null;
  readonly incoming: IncomingMessage | null;
}

interface ConnectionsList {
  active(): readonly Arriving[];
}

/** The response that the connection is writing: it has the connection to itself until it is finished. */
export function responseOn(socket: Socket): ServerResponse | undefined {
  return (socket as OfConnection)._httpMessage ?? undefined;
}

/** It serves other connections later, also of other servers. */
export function parserOf(socket: Socket): Parser | undefined {
  return (socket as OfConnection).parser ?? undefined;
}

/**
 * Has node:http read the connection as any other listener does. Otherwise its parser takes the bytes from the system itself. To be called
 * before node:http gets to know the connection.
 */
export function readThroughStream(socket: Socket): void {
  const { _handle: handle } = socket as OfConnection;
  if (handle) handle._consumed = true;
}

export function arrivingOn(server: Server): readonly Arriving[] {
  for (const key of Object.getOwnPropertySymbols(server)) {
    if (key.description !== 'http.server.connections') continue;
    return (server as unknown as Readonly<Record<symbol, ConnectionsList | undefined>>)[key]?.active() ?? [];
  }
  return [];
}
