import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { aesCbc, aesGcm } from './ciphers';
import type { KmsProvider } from './configuration';
import type { KmsV1Client } from './kms-client';
import type { Opened, Transformer } from './transformer';

const KEY_BYTES = 32;
const LENGTH_BYTES = 2;

/**
 * Values with a key each, which the service has encrypted: the length of that in two bytes, the encrypted key, the value in AES-CBC,
 * as kube-apiserver 1.20 reads it. Later ones write AES-GCM, which is read as well.
 */
export function kmsV1Transformer({ name, cacheSize }: KmsProvider, client: KmsV1Client): Transformer {
  const prefix = Buffer.from(`k8s:enc:kms:v1:${name}:`);
  const known = cacheSize > 0 ? new LRUCache<string, Buffer>({ max: cacheSize }) : undefined;
  const keyOf = async (encrypted: Buffer): Promise<Buffer> => {
    const id = encrypted.toString('base64');
    const remembered = known?.get(id);
    if (remembered !== undefined) return remembered;
    const key = await client.decrypt(encrypted);
    if (key.length !== KEY_BYTES) throw new Error(`the KMS provider gave a key of ${key.length} bytes`);
    known?.set(id, key);
    return key;
  };
  return {
    prefix,
    seal: async (value, context) => {
      const key = randomBytes(KEY_BYTES);
      const encrypted = await client.encrypt(key);
      known?.set(encrypted.toString('base64'), key);
      const length = Buffer.alloc(LENGTH_BYTES);
      length.writeUInt16BE(encrypted.length);
      return Buffer.concat([prefix, length, encrypted, aesCbc(key).seal(value, context)]);
    },
    open: async (sealed, context): Promise<Opened> => {
      const at = prefix.length + LENGTH_BYTES;
      if (sealed.length < at) throw new Error('the stored data was shorter than the required size');
      const end = at + sealed.readUInt16BE(prefix.length);
      if (sealed.length < end) throw new Error('the stored data was shorter than the required size');
      const key = await keyOf(sealed.subarray(at, end));
      const rest = sealed.subarray(end);
      try {
        return { value: aesGcm(key).open(rest, context), isStale: true };
      } catch {
        return { value: aesCbc(key).open(rest, context), isStale: false };
      }
    },
  };
}
