import type { Readable } from 'node:stream';
import type { AcceptedWebSocket } from './accept-web-socket';
import type { PausableSource } from './backpressure';

/** The messages of a client, which come from its connection. */
export class MessageSource implements PausableSource {
  readonly comesFrom: Readable;

  constructor(private readonly client: AcceptedWebSocket) {
    this.comesFrom = client.socket;
  }

  pause(): void {
    this.client.webSocket.pause();
  }

  resume(): void {
    this.client.webSocket.resume();
  }
}
