import { windowUpdateFrame } from '../../http2/frames';
import { ErrorCode, Http2Error } from '../../http2/http2-error';
import type { ResponseSender } from './response-sender';
import { BodyWindow } from './body-window';
import type { Http2ServerStream } from './server-stream';

/** How much of a body a client sends ahead, as with kube-apiserver. */
export const STREAM_WINDOW_BYTES = 256 * 1024;

/** The windows of a connection's bodies: of each, and of all together. They open again for what has been read. */
export class RequestBodies {
  readonly #all: BodyWindow;

  constructor(
    private readonly sender: ResponseSender,
    bytes: number,
  ) {
    this.#all = new BodyWindow(bytes, STREAM_WINDOW_BYTES, (more) => sender.write(windowUpdateFrame(0, more)));
  }

  /** Bytes that came and have not been read. */
  get heldBytes(): number {
    return this.#all.heldBytes;
  }

  /** The client may send so much ahead on all streams together. */
  grow(bytes: number): void {
    this.#all.grow(bytes);
  }

  /** Bytes for some stream have come, padding with them. Throws an {@link Http2Error} for more than the client may send. */
  receive(bytes: number): void {
    this.#all.receive(bytes);
  }

  /** They were of this stream. Throws an {@link Http2Error}. */
  receiveFor(stream: Http2ServerStream, bytes: number): void {
    stream.received += bytes;
    if (stream.received <= STREAM_WINDOW_BYTES) return;
    throw new Http2Error(ErrorCode.FLOW_CONTROL_ERROR, 'a body is larger than its window');
  }

  /** They were of a stream that has ended. */
  release(bytes: number): void {
    this.#all.release(bytes);
  }

  /** They will not be read. The stream's window stays as it is: a watch lasts, and would take such a body for as long. */
  drop(stream: Http2ServerStream, bytes: number): void {
    stream.dropped += bytes;
    this.#all.release(bytes);
  }

  /** They have been read. */
  take(stream: Http2ServerStream, bytes: number): void {
    stream.taken += bytes;
    this.#all.release(bytes);
    // The client sends no more of it.
    if (stream.hasReceivedAll) return;
    if (2 * stream.taken < STREAM_WINDOW_BYTES) return;
    const { account } = this.sender;
    if (account.mayGoOn(stream)) this.#openWindow(stream);
    else void account.roomToGoOn(stream).then(() => this.#openWindow(stream));
  }

  /** The stream has ended: what is left is not read. */
  forget({ received, taken, dropped }: Http2ServerStream): void {
    this.#all.release(received - taken - dropped);
  }

  #openWindow(stream: Http2ServerStream): void {
    if (stream.isClosed || stream.hasReceivedAll || stream.taken === 0) return;
    this.sender.write(windowUpdateFrame(stream.id, stream.taken));
    stream.received -= stream.taken;
    stream.taken = 0;
  }
}
