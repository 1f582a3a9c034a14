import type { KeyValue } from './messages';
import type { StoredValue } from '../store';

/** An interval of keys in etcd's sense. */
export interface KeyInterval {
  readonly key: Buffer;
  readonly rangeEnd: Buffer;
}

const ZERO = Buffer.from([0]);

/** Maps the store's keys to etcd's, which begin with a prefix. */
export class KeySpace {
  constructor(private readonly prefix: string) {}

  toEtcd(key: string): Buffer {
    return Buffer.from(this.prefix + key);
  }

  fromEtcd(key: Buffer): string {
    return key.toString('utf8').slice(this.prefix.length);
  }

  /** The keys that begin with `prefix`, from `start` on. */
  interval(prefix: string, start?: string): KeyInterval {
    const prefixBytes = this.toEtcd(prefix);
    const startBytes = start === undefined ? prefixBytes : this.toEtcd(start);
    const key = Buffer.compare(startBytes, prefixBytes) > 0 ? startBytes : prefixBytes;
    if (prefixBytes.length === 0) return { key: key.length === 0 ? ZERO : key, rangeEnd: ZERO };
    const end = Buffer.from(prefixBytes);
    // UTF-8 has no byte 255, so this does not overflow.
    end[end.length - 1] = end[end.length - 1]! + 1;
    return { key, rangeEnd: end };
  }

  storedValue(pair: KeyValue): StoredValue {
    return { key: this.fromEtcd(pair.key), value: pair.value, revision: pair.modRevision };
  }
}
