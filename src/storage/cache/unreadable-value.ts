import { StatusError } from '../../api/errors/status-error';
import { isEncrypted, TRIED_TO_READ_ENCRYPTED } from '../encrypted-prefix';
import type { StoredValue } from '../store';

/**
 * A stored value that is encrypted and cannot be opened. Other than one that is malformed it is not taken for none: a request for it,
 * or for a list that it belongs in, fails.
 */
export class UnreadableValueError extends StatusError {
  constructor({ key, problem = '' }: Pick<StoredValue, 'key' | 'problem'>) {
    super(500, undefined, `unable to transform key ${JSON.stringify(key)}: ${problem}`);
  }
}

/** Undefined: it can be opened, or is malformed. */
function whyUnreadable({ value, problem }: StoredValue): string | undefined {
  return problem ?? (isEncrypted(value) ? TRIED_TO_READ_ENCRYPTED : undefined);
}

export function isUnreadable(value: StoredValue | undefined): boolean {
  return value !== undefined && whyUnreadable(value) !== undefined;
}

const NO_BYTES = Buffer.alloc(0);

/** What stands under keys and cannot be opened: without its bytes, with the reason. */
export class UnreadableValues {
  readonly #values = new Map<string, StoredValue>();

  get size(): number {
    return this.#values.size;
  }

  keys(): readonly string[] {
    return [...this.#values.keys()];
  }

  /** False, and nothing is noted, when it can be opened or is malformed. */
  note(value: StoredValue): boolean {
    const problem = whyUnreadable(value);
    if (problem === undefined) return false;
    const { key, revision } = value;
    this.#values.set(key, { key, value: NO_BYTES, revision, problem });
    return true;
  }

  /** Undefined: there was nothing of the kind. */
  take(key: string): StoredValue | undefined {
    const value = this.#values.get(key);
    if (value !== undefined) this.#values.delete(key);
    return value;
  }

  problemOf(key: string): Error | undefined {
    const value = this.#values.get(key);
    return value && new UnreadableValueError(value);
  }

  problemIn(prefix: string): Error | undefined {
    for (const [key, value] of this.#values) if (key.startsWith(prefix)) return new UnreadableValueError(value);
    return undefined;
  }
}
