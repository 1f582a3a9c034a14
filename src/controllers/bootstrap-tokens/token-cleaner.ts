import { isStatus, startController, type Controller, type ControllerParts } from '../controller';
import { expirationOf, TOKEN_SECRETS_PATH, TOKEN_SECRETS_QUERY } from './token-secret';

/** Of timers; what ends later is looked at once more on the way. */
const LONGEST_WAIT_MS = 60 * 60_000;

/** Deletes bootstrap tokens when their time is over (spec, "Bootstrap token"). */
export function startTokenCleaner(parts: ControllerParts, now: () => number): Controller {
  return startController('token-cleaner', parts, ({ client, signal, queue, follow }) => {
    const tokens = new Map<string, { readonly uid: string; readonly end: number }>();
    follow({
      path: TOKEN_SECRETS_QUERY,
      changed: (secret) => {
        const { name = '', uid = '' } = secret.metadata;
        tokens.set(name, { uid, end: expirationOf(secret) });
        queue.add(name);
      },
      deleted: ({ metadata: { name = '' } }) => tokens.delete(name),
    });
    return async (name) => {
      const token = tokens.get(name);
      if (token === undefined || token.end === Infinity) return;
      const left = token.end - now();
      if (left > 0) return queue.addAfter(name, Math.min(left + 1, LONGEST_WAIT_MS));
      try {
        const preconditions = { uid: token.uid };
        await client.delete(`${TOKEN_SECRETS_PATH}/${encodeURIComponent(name)}`, { preconditions }, signal);
      } catch (error) {
        if (!isStatus(error, 404, 409)) throw error;
      }
    };
  });
}
