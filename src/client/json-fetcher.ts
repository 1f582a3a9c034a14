import { agentFor, sendRequest } from './https-request';

const TIMEOUT_MS = 30_000;

/** Fetches JSON documents over HTTPS, trusting one CA, or those of the system. */
export interface JsonFetcher {
  readonly fetch: (url: string) => Promise<unknown>;
  readonly close: () => void;
}

/** `certificateAuthority`: PEM. `fetch` throws with a message that says what went wrong. */
export function jsonFetcher(certificateAuthority: string | undefined): JsonFetcher {
  const agent = agentFor(certificateAuthority === undefined ? {} : { certificateAuthority });
  return {
    fetch: async (url) => {
      const headers = { Accept: 'application/json' };
      const { status, body } = await sendRequest({ url, method: 'GET', headers, agent, timeoutMs: TIMEOUT_MS });
      if (status !== 200) throw new Error(`${url} answered ${status}`);
      return JSON.parse(body) as unknown;
    },
    close: () => agent.destroy(),
  };
}
