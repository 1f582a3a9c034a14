import type { MaybePromise } from '../../api/maybe-promise';
import { beginsWith, isEncrypted, TRIED_TO_READ_ENCRYPTED } from '../encrypted-prefix';

/** A value as it was meant, and whether it is written otherwise today. */
export interface Opened {
  readonly value: Buffer;
  readonly isStale: boolean;
}

/**
 * One way of keeping values, with its keys. What is written begins with {@link prefix}, which says who can read it; `context` is the
 * key under which the value stands, so that it cannot be moved to another one.
 */
export interface Transformer {
  /** `k8s:enc:aesgcm:v1:`; empty: values are written as they are. */
  readonly prefix: Buffer;
  /** The value with the prefix. */
  seal(value: Uint8Array, context: string): MaybePromise<Buffer>;
  /** `sealed`: with the prefix. Throws, or rejects, with what is wrong. */
  open(sealed: Buffer, context: string): MaybePromise<Opened>;
}

/** A cipher with one key. */
export interface Cipher {
  seal(value: Uint8Array, context: string): Buffer;
  /** Throws when the bytes are not of this key, or are of another context. */
  open(sealed: Buffer, context: string): Buffer;
}

/** A cipher with several keys by their names, the first of which is for writing. */
export function keyedTransformer(
  prefix: string,
  keys: readonly { readonly name: string; readonly cipher: Cipher }[],
): Transformer {
  const named = keys.map(({ name, cipher }) => ({ cipher, prefix: Buffer.from(`${prefix}${name}:`) }));
  const [first] = named;
  if (first === undefined) throw new Error(`${prefix} has no keys`);
  return {
    prefix: Buffer.from(prefix),
    seal: (value, context) => Buffer.concat([first.prefix, first.cipher.seal(value, context)]),
    open: (sealed, context) => {
      const failures: string[] = [];
      for (const key of named) {
        if (!beginsWith(sealed, key.prefix)) continue;
        try {
          const value = key.cipher.open(sealed.subarray(key.prefix.length), context);
          return { value, isStale: key !== first };
        } catch (error) {
          failures.push((error as Error).message);
        }
      }
      throw new Error(failures.length === 0 ? 'no matching key was found for the provided data' : failures.join(', '));
    },
  };
}

/** Values as they are. It reads no encrypted ones. */
export const identity: Transformer = {
  prefix: Buffer.alloc(0),
  seal: (value) => Buffer.from(value.buffer, value.byteOffset, value.byteLength),
  open: (value) => {
    if (isEncrypted(value)) throw new Error(TRIED_TO_READ_ENCRYPTED);
    return { value, isStale: false };
  },
};

/** Several ones: the first writes, and who wrote a value reads it. */
export function firstOf(transformers: readonly Transformer[]): Transformer {
  const [first, ...others] = transformers;
  if (first === undefined || (first === identity && others.length === 0)) return identity;
  return {
    prefix: first.prefix,
    seal: (value, context) => first.seal(value, context),
    open: async (sealed, context) => {
      const failures: Error[] = [];
      for (const transformer of transformers) {
        if (!beginsWith(sealed, transformer.prefix)) continue;
        try {
          const { value, isStale } = await transformer.open(sealed, context);
          return { value, isStale: isStale || transformer !== first };
        } catch (error) {
          failures.push(error as Error);
        }
        // The one without a prefix takes what no other has.
        if (transformer.prefix.length > 0) break;
      }
      const [only] = failures;
      if (only !== undefined && failures.length === 1) throw only;
      const told = failures.map(({ message }) => message).join(', ');
      throw new Error(told === '' ? 'no matching prefix found' : told);
    },
  };
}
