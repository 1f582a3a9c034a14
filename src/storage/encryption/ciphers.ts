import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa';
import type { Cipher } from './transformer';

const TAG_BYTES = 16;
const GCM_NONCE_BYTES = 12;
const CBC_IV_BYTES = 16;
const SECRETBOX_NONCE_BYTES = 24;

/** AES-GCM: nonce, cipher text, tag. `key`: 16, 24 or 32 bytes. The context is authenticated. */
export function aesGcm(key: Buffer): Cipher {
  const algorithm = `aes-${key.length * 8}-gcm` as 'aes-256-gcm';
  const options = { authTagLength: TAG_BYTES };
  return {
    seal: (value, context) => {
      const nonce = randomBytes(GCM_NONCE_BYTES);
      const cipher = createCipheriv(algorithm, key, nonce, options).setAAD(Buffer.from(context));
      return Buffer.concat([nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()]);
    },
    open: (sealed, context) => {
      if (sealed.length < GCM_NONCE_BYTES + TAG_BYTES) {
        throw new Error('the stored data was shorter than the required size');
      }
      const nonce = sealed.subarray(0, GCM_NONCE_BYTES);
      const decipher = createDecipheriv(algorithm, key, nonce, options)
        .setAAD(Buffer.from(context))
        .setAuthTag(sealed.subarray(-TAG_BYTES));
      const value = decipher.update(sealed.subarray(GCM_NONCE_BYTES, -TAG_BYTES));
      try {
        return Buffer.concat([value, decipher.final()]);
      } catch (error) {
        throw new Error('cipher: message authentication failed', { cause: error });
      }
    },
  };
}

/** AES-CBC with PKCS#7 padding: initialization vector, cipher text. Nothing is authenticated. */
export function aesCbc(key: Buffer): Cipher {
  const algorithm = `aes-${key.length * 8}-cbc`;
  return {
    seal: (value) => {
      const iv = randomBytes(CBC_IV_BYTES);
      const cipher = createCipheriv(algorithm, key, iv);
      return Buffer.concat([iv, cipher.update(value), cipher.final()]);
    },
    open: (sealed) => {
      if (sealed.length < CBC_IV_BYTES) throw new Error('the stored data was shorter than the required size');
      if (sealed.length % CBC_IV_BYTES !== 0) {
        throw new Error(`the stored data is not a multiple of the block size`);
      }
      const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, CBC_IV_BYTES));
      const value = decipher.update(sealed.subarray(CBC_IV_BYTES));
      try {
        return Buffer.concat([value, decipher.final()]);
      } catch (error) {
        throw new Error('invalid padding on input', { cause: error });
      }
    },
  };
}

/** XSalsa20 and Poly1305, as NaCl's secretbox: nonce, tag, cipher text. `key`: 32 bytes. The context is not authenticated. */
export function secretbox(key: Buffer): Cipher {
  return {
    seal: (value) => {
      const nonce = randomBytes(SECRETBOX_NONCE_BYTES);
      return Buffer.concat([nonce, xsalsa20poly1305(key, nonce).encrypt(value)]);
    },
    open: (sealed) => {
      if (sealed.length < SECRETBOX_NONCE_BYTES + TAG_BYTES)
        throw new Error('the stored data was shorter than the required size');
      const box = xsalsa20poly1305(key, sealed.subarray(0, SECRETBOX_NONCE_BYTES));
      try {
        return Buffer.from(box.decrypt(sealed.subarray(SECRETBOX_NONCE_BYTES)));
      } catch (error) {
        throw new Error('the stored data is not of this key', { cause: error });
      }
    },
  };
}
