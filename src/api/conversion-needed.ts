import type { KubeObject } from './object';
import type { MaybePromise } from './maybe-promise';

/**
 * Thrown out of a pure function that needs an object in a version that only a webhook can convert it to. A caller that may wait has the
 * conversion done and runs the function again.
 */
export class ConversionNeeded extends Error {
  constructor(
    /** Makes the conversion known; resolves to what forgets it. */
    readonly prepare: () => Promise<() => void>,
  ) {
    super('a conversion between versions is needed');
    this.name = 'ConversionNeeded';
  }
}

/** Versions between which only a webhook converts: objects stay in the requested version until they are stored. */
export interface RemoteConversion {
  /** The object in that version. Throws {@link ConversionNeeded} until it is known. */
  readonly known: (object: KubeObject, apiVersion: string) => KubeObject;
}

/** An object has owners in so many versions, at most. */
const MAX_CONVERSIONS = 32;

/** Runs a function that changes nothing until all conversions that it needs are known. */
export async function withConversions<T>(run: () => MaybePromise<T>): Promise<T> {
  const forget: (() => void)[] = [];
  try {
    for (;;) {
      try {
        return await run();
      } catch (error) {
        if (!(error instanceof ConversionNeeded) || forget.length === MAX_CONVERSIONS) throw error;
        forget.push(await error.prepare());
      }
    }
  } finally {
    for (const one of forget) one();
  }
}
