import { WatchedFiles } from './watched-files';

export interface FollowedFilesOptions<T> {
  /** Asked again after each change: one file may name others. */
  readonly files: () => readonly string[];
  /** Throws while the files are no good. */
  readonly load: () => T;
  readonly onChanged?: () => void;
  readonly onFailed?: (error: unknown) => void;
}

export interface FollowedFiles<T> {
  /** What is made of the files as they are now, or as they were when they last could be used. */
  readonly current: () => T;
  readonly close: () => void;
}

/**
 * What is made of files, made anew when one of them has changed. That is looked at when it is asked for, every few seconds at most. Throws
 * what is wrong with the files at first.
 */
export function followFiles<T extends { readonly close: () => void }>(
  options: FollowedFilesOptions<T>,
): FollowedFiles<T> {
  const { load, onChanged, onFailed } = options;
  const made: T[] = [];
  const make = (): T => {
    const value = load();
    made.push(value);
    // The one before may still be in use; those before that have had their time.
    while (made.length > 2) made.shift()?.close();
    return value;
  };
  const follow = (files: readonly string[]): WatchedFiles<T> =>
    new WatchedFiles({
      files,
      load: make,
      looksWhenAsked: true,
      onChanged: () => {
        onChanged?.();
        const named = options.files();
        if (named.join() !== files.join()) followed = follow(named);
      },
      ...(onFailed && { onFailed }),
    });
  let followed = follow(options.files());
  return {
    current: () => {
      followed.current();
      // To look may have made another one.
      return followed.current();
    },
    close: () => made.forEach((value) => value.close()),
  };
}
