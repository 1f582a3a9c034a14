import { sendRequest } from './https-request';
import { agentFor } from './peer-tls';
import { readJsonAnswer } from './json-answer';

const TIMEOUT_MS = 30_000;

/** Fetches JSON documents and tokens over HTTPS, trusting one CA, or those of the system. */
export interface JsonFetcher {
  readonly fetch: (url: string) => Promise<unknown>;
  /** The answer as it came; `bearerToken` is shown to the peer. */
  readonly fetchText: (url: string, bearerToken: string | undefined) => Promise<string>;
  readonly close: () => void;
}

/** `certificateAuthority`: PEM. Both throw with a message that says what went wrong. */
export function jsonFetcher(certificateAuthority: string | undefined): JsonFetcher {
  const agent = agentFor(certificateAuthority === undefined ? {} : { certificateAuthority });
  const get = async (url: string, headers: Readonly<Record<string, string>>): Promise<string> => {
    const { status, body } = await sendRequest({ url, method: 'GET', headers, agent, timeoutMs: TIMEOUT_MS });
    if (status !== 200) throw new Error(`${url} answered ${status}`);
    return body;
  };
  return {
    fetch: async (url) => readJsonAnswer(await get(url, { Accept: 'application/json' })),
    fetchText: (url, bearerToken) =>
      get(url, {
        Accept: 'application/jwt, */*',
        ...(bearerToken === undefined ? {} : { Authorization: `Bearer ${bearerToken}` }),
      }),
    close: () => agent.destroy(),
  };
}
