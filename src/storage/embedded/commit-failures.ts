import { StoreFileError } from './database';
import { canGrow, isOutOfSpace } from './disk-space';
import type { SpaceGuard } from './space-guard';
import { StoreFailure } from '../store';

/** A commit failed of something else than space: the disk does not take it, or the file system is gone. */
export class StoreWriteError extends StoreFailure {
  constructor(message: string, publicMessage: string, options?: ErrorOptions) {
    super(message, publicMessage, { ...options, isReported: true });
    this.name = 'StoreWriteError';
  }
}

export interface CommitFailuresOptions {
  readonly space: Pick<SpaceGuard, 'look' | 'failed'>;
  /** Reads something; throws when LMDB does not read either any more. */
  readonly read: () => unknown;
  readonly warn: (message: string) => void;
  /** Called once, when {@link CommitFailures.lost} is set. */
  readonly onLost?: (error: StoreWriteError) => void;
}

/**
 * Says why commits of a file fail: an error to each who waits for one, and to the operator a line when they begin to fail and
 * another when they succeed again.
 */
export class CommitFailures {
  #hasTold = false;
  #lost: StoreWriteError | undefined;

  constructor(
    private readonly path: string,
    private readonly options: CommitFailuresOptions,
  ) {}

  /**
   * Set once LMDB has given the file up, which it does when the page that makes a commit visible cannot be written. Nothing may be
   * asked of it from then on: it would end the process by a signal. What was acknowledged is in the file.
   */
  get lost(): StoreWriteError | undefined {
    return this.#lost;
  }

  /** What the writers of a failed commit are told. Never throws: they would wait for ever. */
  explain(error: unknown): unknown {
    if (!(error instanceof StoreFileError)) return error;
    const { message, cause } = error;
    if (this.#lost !== undefined) return this.#lost;
    if (!this.#canRead()) {
      const advice = `${message}; the file has to be opened again: restart the server`;
      this.#lost = new StoreWriteError(
        advice,
        'the store has been closed by an error: the server has to be restarted',
        {
          cause,
        },
      );
      this.options.warn(advice);
      this.options.onLost?.(this.#lost);
      return this.#lost;
    }
    if (this.#isForWantOfSpace(cause)) return this.options.space.failed('no space is left, or no file may be larger');
    if (!this.#hasTold) this.options.warn(`${message}; writes fail until it can be written, reads go on`);
    this.#hasTold = true;
    return new StoreWriteError(message, 'the store cannot be written: the log of the server says why', { cause });
  }

  /** A commit has succeeded. */
  succeeded(): void {
    if (!this.#hasTold) return;
    this.#hasTold = false;
    this.options.warn(`${this.path}: can be written again: writes are taken`);
  }

  #canRead(): boolean {
    try {
      this.options.read();
      return true;
    } catch {
      return false;
    }
  }

  #isForWantOfSpace(cause: unknown): boolean {
    if (isOutOfSpace(cause)) return true;
    try {
      return !canGrow(this.path, this.options.space.look().file);
    } catch {
      // Where not even that can be found out, something else than space is wanting.
      return false;
    }
  }
}
