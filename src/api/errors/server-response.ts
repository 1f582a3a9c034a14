import { qualifiedResource, StatusError, type GroupResource, type StatusReason } from './status-error';

interface Explanation {
  readonly reason: StatusReason;
  /** Absent: what the other server said is to be read. */
  readonly message?: string;
}

/** What a client of the API makes of an answer that is no Status, by its code. */
const EXPLANATIONS: Readonly<Record<number, Explanation>> = {
  400: { reason: 'BadRequest', message: 'the server rejected our request for an unknown reason' },
  401: { reason: 'Unauthorized', message: 'the server has asked for the client to provide credentials' },
  403: { reason: 'Forbidden' },
  404: { reason: 'NotFound', message: 'the server could not find the requested resource' },
  405: {
    reason: 'MethodNotAllowed',
    message: 'the server does not allow this method on the requested resource',
  },
  406: { reason: 'NotAcceptable' },
  409: { reason: 'Conflict', message: 'the server reported a conflict' },
  415: { reason: 'UnsupportedMediaType' },
  422: { reason: 'Invalid', message: 'the server rejected our request due to an error in our request' },
  429: {
    reason: 'TooManyRequests',
    message: 'the server has received too many requests and has asked us to try again later',
  },
  503: { reason: 'ServiceUnavailable', message: 'the server is currently unable to handle the request' },
  504: {
    reason: 'Timeout',
    message: 'the server was unable to return a response in the time allotted, but may still be processing the request',
  },
};

/** The Status for another server's answer about an object, as kube-apiserver words it. */
export function serverResponse(code: number, of: GroupResource, name: string, text: string): StatusError {
  const { reason, message } = explain(code, text);
  const details = { name, ...(of.group === '' ? {} : { group: of.group }), kind: of.resource };
  return new StatusError(code, reason, `${message} ( ${qualifiedResource(of)} ${name})`, details);
}

function explain(code: number, text: string): { readonly reason: StatusReason | undefined; readonly message: string } {
  const known = EXPLANATIONS[code];
  if (known !== undefined) return { reason: known.reason, message: known.message ?? text };
  if (code >= 500) {
    const message = `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`;
    return { reason: 'InternalError', message };
  }
  const message = `the server responded with the status code ${code} but did not return more information`;
  return { reason: undefined, message };
}
