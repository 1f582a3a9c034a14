import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';

/** How soon a changed file is noticed. */
const POLL_MS = 2000;

export interface WatchedFilesOptions<T> {
  /** What is read; those that are not there now may be there later. */
  readonly files: readonly string[];
  /** Makes of the files what they stand for. Throws while they are no good, as while they are being replaced. */
  readonly load: () => T;
  /** Told of each change that counts, and of each that cannot be used. */
  readonly onChanged?: (value: T) => void;
  readonly onFailed?: (error: unknown) => void;
  readonly pollMs?: number;
  /** No timer looks: a caller does, unless another has just done so. Nothing is to be closed then. */
  readonly looksWhenAsked?: boolean;
}

/**
 * What stands in files, as it is now. A look is a `stat` of each; only other bytes count as a change, however a file was replaced, so
 * that the symbolic links of a mounted Secret are followed and a touched file changes nothing. Throws when the first load fails.
 */
export class WatchedFiles<T> {
  readonly #options: WatchedFilesOptions<T>;
  readonly #timer: NodeJS.Timeout | undefined;
  #lookAt: number;
  #stamp: string;
  #hash: string;
  #value: T;

  constructor(options: WatchedFilesOptions<T>) {
    this.#options = options;
    this.#stamp = stampOf(options.files);
    this.#hash = hashOf(options.files);
    this.#value = options.load();
    const { pollMs = POLL_MS } = options;
    this.#lookAt = performance.now() + pollMs;
    if (options.looksWhenAsked !== true) this.#timer = setInterval(() => this.look(), pollMs).unref();
  }

  readonly current = (): T => {
    const { looksWhenAsked, pollMs = POLL_MS } = this.#options;
    if (looksWhenAsked === true && performance.now() >= this.#lookAt) {
      this.#lookAt = performance.now() + pollMs;
      this.look();
    }
    return this.#value;
  };

  /** Looks now instead of at the next turn. */
  look(): void {
    const { files, load, onChanged, onFailed } = this.#options;
    const stamp = stampOf(files);
    if (stamp === this.#stamp) return;
    const hash = hashOf(files);
    if (hash !== this.#hash) {
      try {
        this.#value = load();
      } catch (error) {
        // Another look at the next turn: the stamp of before stays.
        onFailed?.(error);
        return;
      }
      this.#hash = hash;
      onChanged?.(this.#value);
    }
    this.#stamp = stamp;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

function stampOf(files: readonly string[]): string {
  return files
    .map((file) => {
      const stat = statSync(file, { throwIfNoEntry: false });
      return stat === undefined ? 'none' : `${stat.ino} ${stat.mtimeMs} ${stat.ctimeMs} ${stat.size}`;
    })
    .join(', ');
}

function hashOf(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0`).update(contentOf(file)).update('\0');
  return hash.digest('base64');
}

function contentOf(file: string): Buffer | string {
  try {
    return readFileSync(file);
  } catch {
    return 'unreadable';
  }
}
