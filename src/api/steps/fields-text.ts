import type { JsonObject } from '../object';
import type { Steps } from './pace';

/** What an absurdly large object's managers own is hardly ever what another's own: it is not looked for by its text. */
// eslint-disable-next-line require-yield
export function* fieldsText(_fields: JsonObject): Steps<string | undefined> {
  return undefined;
}
