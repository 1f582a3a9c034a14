/** How long a client may take for the preface and its settings, and for a block of headers that it has begun. */
const HEADERS_TIMEOUT_MS = 10_000;
/** For a frame that it has begun: what kube-apiserver gives a client for the head of a request. */
const FRAME_TIMEOUT_MS = 32_000;
/** Without a request: kube-apiserver's, and that of Go's clients. Pings are none. */
const IDLE_TIMEOUT_MS = 90_000;
/** For taking something of the last bytes of a connection that ends. */
const LAST_BYTES_TIMEOUT_MS = 30_000;

/** What the client of a connection is in the middle of. Each number tells one such thing from the next of its kind. */
export interface ReadingState {
  readonly hasSettings: boolean;
  /** The frame that has begun and not ended. */
  readonly frame: number | undefined;
  /** The block of headers that has begun and not ended. */
  readonly block: number | undefined;
}

export interface ConnectionState {
  readonly reading: ReadingState;
  /** We do not read what the client sends. */
  readonly isPaused: boolean;
  /** The last request, and how many are under way. */
  readonly lastId: number;
  readonly underWay: number;
  /** While the connection ends: bytes that the client has not taken. */
  readonly lastBytes: number | undefined;
}

/** How long something has been as it is, as far as those know who look now and then. */
class Standstill {
  #what: number | undefined;
  #since = 0;

  /** Milliseconds; 0 for nothing. */
  lasts(what: number | undefined, now: number): number {
    if (what === undefined || what !== this.#what) this.#since = now;
    this.#what = what;
    return now - this.#since;
  }
}

/**
 * The deadlines of a connection. All connections are looked at once a second: a timer for each block and each idle
 * connection would cost more, and keep more, than all of these together.
 */
export class ConnectionDeadlines {
  readonly #frame = new Standstill();
  readonly #block = new Standstill();
  readonly #idle = new Standstill();
  readonly #end = new Standstill();

  constructor(private readonly acceptedAt: number) {}

  /** `late`: it has to end at once. `idle`: its client is to be told to leave. `now` is of a monotonic clock. */
  judge(state: ConnectionState, now: number): 'fine' | 'late' | 'idle' {
    const { isPaused, lastBytes, underWay } = state;
    const { hasSettings, block, frame } = state.reading;
    if (this.#end.lasts(lastBytes, now) >= LAST_BYTES_TIMEOUT_MS) return 'late';
    if (!hasSettings && now - this.acceptedAt >= HEADERS_TIMEOUT_MS) return 'late';
    // What is not read cannot end.
    if (this.#block.lasts(isPaused ? undefined : block, now) >= HEADERS_TIMEOUT_MS) return 'late';
    if (this.#frame.lasts(isPaused ? undefined : frame, now) >= FRAME_TIMEOUT_MS) return 'late';
    return this.#idle.lasts(underWay === 0 ? state.lastId : undefined, now) >= IDLE_TIMEOUT_MS ? 'idle' : 'fine';
  }
}
