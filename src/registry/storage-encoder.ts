import type { KubeObject } from '../api/object';
import type { Steps } from '../api/parts';

/** An object as it is written: in the version that is stored, without what the store itself knows. */
export interface StoredObject {
  readonly object: KubeObject;
  /**
   * Its JSON begins with kind, apiVersion and metadata, in this order, so that the cache can cut the head off and put the
   * revision in without parsing.
   */
  readonly value: Buffer;
  /** Whether reading the value gives the object again; undefined: it was not looked at. */
  readonly isPlain?: boolean;
}

/** How the objects of a kind are written. */
export interface StorageEncoder {
  (memory: KubeObject): StoredObject;
  /** The same for a large object, a part at a time. */
  readonly inSteps: (memory: KubeObject) => Steps<StoredObject>;
}
