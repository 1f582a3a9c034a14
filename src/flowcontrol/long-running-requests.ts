import type { UserInfo } from '../api/user';
import { isMaster } from './max-in-flight';

/** What a watch has the server keep: its request, its place among the watchers, its stream. Measured: 13 kB over HTTP/2. */
const WATCH_BYTES = 16 * 1024;
/** What a connection costs that is a client's, or leads to a node, for this one request. */
const CONNECTION_BYTES = 32 * 1024;

/** What comes of a long head is kept for as long as the request lasts: each term of a selector, each parameter, each header. */
const USUAL_URL_CHARACTERS = 256;
const BYTES_OF_A_URL_CHARACTER = 40;
const USUAL_HEADER_BYTES = 2 * 1024;
const BYTES_OF_A_HEADER_BYTE = 10;

/** How much a client has said to have a request that lasts. */
export interface RequestSize {
  readonly urlCharacters: number;
  /** As RFC 9113 (6.5.2) counts them. */
  readonly headerBytes: number;
}

/** What a request that lasts costs for as long as it does. */
export function longRunningCost(
  isWatch: boolean,
  hasOwnConnection: boolean,
  { urlCharacters, headerBytes }: RequestSize,
): number {
  return (
    WATCH_BYTES +
    (isWatch ? 0 : CONNECTION_BYTES) +
    (hasOwnConnection ? CONNECTION_BYTES : 0) +
    Math.max(0, urlCharacters - USUAL_URL_CHARACTERS) * BYTES_OF_A_URL_CHARACTER +
    Math.max(0, headerBytes - USUAL_HEADER_BYTES) * BYTES_OF_A_HEADER_BYTE
  );
}

/**
 * Bounds what requests that last make the server keep: no limit of requests under way counts them, as on kube-apiserver, and a
 * user who opens watches without end would take the memory of all others. Nobody may have more than is left: one user gets half of
 * it, two a third each, and there is always something for the next. Members of system:masters may have all.
 */
export class LongRunningRequests {
  readonly #ofUsers = new Map<string, number>();
  #taken = 0;

  constructor(readonly limitBytes: number) {}

  /** By all of them together. */
  get takenBytes(): number {
    return this.#taken;
  }

  /** Of users who have any. */
  get users(): number {
    return this.#ofUsers.size;
  }

  /** Returns how the request gives back what it took, once; undefined when there is not enough left. */
  begin(user: UserInfo, bytes: number): (() => void) | undefined {
    const taken = this.#taken + bytes;
    const own = (this.#ofUsers.get(user.name) ?? 0) + bytes;
    if ((isMaster(user) ? taken : this.#taken + own) > this.limitBytes) return undefined;
    this.#taken = taken;
    this.#ofUsers.set(user.name, own);
    return () => this.#end(user.name, bytes);
  }

  #end(name: string, bytes: number): void {
    this.#taken -= bytes;
    const left = this.#ofUsers.get(name)! - bytes;
    if (left > 0) this.#ofUsers.set(name, left);
    else this.#ofUsers.delete(name);
  }
}
