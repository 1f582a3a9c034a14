import type { ClientRequest } from 'node:http';

/** As Go's clients have it. */
export const MOST_INFORMATIONAL = 5;

export function tooManyInformational(): Error {
  return new Error('net/http: too many 1xx informational responses');
}

/** A peer that never comes to its answer would otherwise have us read one head after the other. */
export function limitInformational(request: ClientRequest): void {
  let count = 0;
  request.on('information', () => {
    if (++count > MOST_INFORMATIONAL) request.destroy(tooManyInformational());
  });
}
