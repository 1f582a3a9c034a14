import type { StatusError } from './status-error';

/** The code of the answer for what is thrown; undefined: nothing is. */
export function codeOf(run: () => unknown): number | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return (error as StatusError).status.code;
  }
}
