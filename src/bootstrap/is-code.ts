import { StatusError } from '../api/errors/status-error';

/** An answer of the API with this HTTP code. */
export function isCode(error: unknown, code: number): boolean {
  return error instanceof StatusError && error.status.code === code;
}
