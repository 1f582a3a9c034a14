/** As Go's clients have it. */
const MOST = 5;

/** Of node:http, which tells of each head by `information`, and of node:http2, which does by `headers`. */
interface Request {
  on(event: string, listener: () => void): unknown;
  destroy(error: Error): unknown;
}

/** A peer that never comes to its answer would otherwise have us read one head after the other. */
export function limitInformational(request: Request, event: 'information' | 'headers' = 'information'): void {
  let count = 0;
  request.on(event, () => {
    if (++count > MOST) request.destroy(new Error('net/http: too many 1xx informational responses'));
  });
}
