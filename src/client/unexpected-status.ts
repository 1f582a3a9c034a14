const EXPLANATIONS: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  406: 'the server was unable to respond with a content type that the client supports',
  409: 'the server reported a conflict',
  415: 'the server was unable to understand the content type of the request',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

/** Of a peer's own words, so much is told. */
const MAX_QUOTED = 2048;
/** Characters of a Status; what is longer is not read, as it would be at one stretch. */
const LONGEST_STATUS = 64 * 1024;

/** What clients of the API say of an answer without a result; a Status speaks for itself. */
export function explainStatus(status: number, body: string, contentType = ''): string {
  try {
    const isShort = body.length <= LONGEST_STATUS;
    const parsed = (isShort ? JSON.parse(body) : null) as { readonly kind?: string; readonly message?: string } | null;
    if (parsed?.kind === 'Status' && typeof parsed.message === 'string') return parsed.message.slice(0, MAX_QUOTED);
  } catch {
    // Not a Status.
  }
  // Only a text is quoted.
  const isText = contentType === '' || contentType.trimStart().startsWith('text/');
  const quoted = isText ? body.slice(0, MAX_QUOTED) : '';
  if (status === 403) return quoted || 'forbidden';
  return (
    EXPLANATIONS[status] ??
    (status >= 500
      ? `an error on the server (${JSON.stringify(quoted || 'unknown')}) has prevented the request from succeeding`
      : `the server responded with the status code ${status} but did not return more information`)
  );
}

/** What they say of an answer that is empty. */
export function explainEmpty(status: number, contentType: string): string {
  return `0-length response with status code: ${status} and content type: ${contentType}`;
}
