import type { MaybePromise } from './maybe-promise';
import type { KubeObject } from './object';
import type { Steps } from './parts';

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
  /** The same for one that may be large and shares nothing with those that are known. */
  readonly knownInSteps: (object: KubeObject, apiVersion: string) => Steps<KubeObject>;
  readonly convert: (object: KubeObject, apiVersion: string) => Promise<KubeObject>;
}

/**
 * What one pure function is given in other versions. As it does the same in each run, the first object that it asks for is the first in
 * the next run as well: nobody compares objects, which for large ones would take as long as all else.
 */
export class ConversionsInOrder {
  private readonly given: { readonly apiVersion: string; readonly object: KubeObject }[] = [];
  private asked = 0;

  /** The function is about to run. */
  begin(): void {
    this.asked = 0;
  }

  /** Throws {@link ConversionNeeded} until it is known. */
  known(remote: Pick<RemoteConversion, 'convert'>, object: KubeObject, apiVersion: string): KubeObject {
    const place = this.asked++;
    const given = this.given[place];
    if (given?.apiVersion === apiVersion) return given.object;
    throw new ConversionNeeded(async () => {
      const converted = await remote.convert(object, apiVersion);
      // Another version than in the run before: what is served has changed meanwhile, and what follows is out of date.
      this.given.splice(place, Infinity, { apiVersion, object: converted });
      return () => undefined;
    });
  }
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
