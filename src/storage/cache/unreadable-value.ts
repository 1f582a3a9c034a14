import { StatusError } from '../../api/errors/status-error';

/**
 * A stored value that is encrypted and cannot be opened. Other than one that is malformed it is not taken for none: whoever asks for it,
 * or for a list that it belongs in, is told.
 */
export class UnreadableValueError extends StatusError {
  constructor(key: string, problem: string) {
    super(500, undefined, `unable to transform key ${JSON.stringify(key)}: ${problem}`);
  }
}
