import { CostExceeded } from '../run';

/** No function makes a longer text: it would not fit into a request. */
export const MAX_TEXT = 3 * 1024 * 1024;

/** Throws {@link CostExceeded} where it is longer. */
export function limited(text: string): string {
  if (text.length > MAX_TEXT) throw new CostExceeded();
  return text;
}
