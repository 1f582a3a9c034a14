import { DEFAULT_WINDOW_BYTES } from '../../http2/frames';
import { ErrorCode, Http2Error } from '../../http2/http2-error';

/**
 * How much of all bodies together a client may send ahead: what it has sent and the server has not read is memory of ours. The window
 * opens again for what was taken or dropped.
 */
export class BodyWindow {
  /** Bytes for which the window has not been opened again, and those of them that are gone. */
  #received = 0;
  #gone = 0;

  /** `roomBytes`: for one more body; the window is not left smaller than that if it can be helped. */
  constructor(
    private bytes: number,
    private readonly roomBytes: number,
    private readonly open: (bytes: number) => void,
  ) {
    if (bytes > DEFAULT_WINDOW_BYTES) open(bytes - DEFAULT_WINDOW_BYTES);
  }

  /** Bytes that came and have not been read. */
  get heldBytes(): number {
    return this.#received - this.#gone;
  }

  grow(bytes: number): void {
    if (bytes <= this.bytes) return;
    this.open(bytes - this.bytes);
    this.bytes = bytes;
  }

  /** Throws an {@link Http2Error} for more than the client may send. */
  receive(bytes: number): void {
    this.#received += bytes;
    if (this.#received > this.bytes) {
      throw new Http2Error(ErrorCode.FLOW_CONTROL_ERROR, 'bodies are larger than the window');
    }
  }

  /** They have been read, or never will be. */
  release(bytes: number): void {
    this.#gone += bytes;
    if (this.#gone === 0) return;
    // Seldom, but before the client has to wait.
    if (8 * this.#gone < this.bytes && this.bytes - this.#received >= this.roomBytes) return;
    this.open(this.#gone);
    this.#received -= this.#gone;
    this.#gone = 0;
  }
}
