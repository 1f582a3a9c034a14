import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { aesGcm } from './ciphers';
import type { KmsProvider } from './configuration';
import { decodeEncryptedObject, encodeEncryptedObject, type KmsEncrypted, type KmsV2Client } from './kms-client';
import type { Cipher, Opened, Transformer } from './transformer';

const SEED_BYTES = 32;
const INFO_BYTES = 32;
/** Seeds that are remembered; each service has one that writes. */
const MAX_SEEDS = 10_000;
/** After so long the service is asked whether it encrypts with another key by now. */
const STATUS_MS = 60_000;
const RETRY_MS = 10_000;

interface Writing {
  readonly source: KmsEncrypted;
  readonly cipher: Cipher;
}

/** HKDF's second half, with SHA-256, for as many bytes as one round gives. */
function expand(seed: Buffer, info: Buffer): Buffer {
  return createHmac('sha256', seed).update(info).update(Buffer.of(1)).digest();
}

/** AES-GCM with a key of its own for each value, made of the seed and what stands before the value. */
export function seededGcm(seed: Buffer): Cipher {
  return {
    seal: (value, context) => {
      const info = randomBytes(INFO_BYTES);
      return Buffer.concat([info, aesGcm(expand(seed, info)).seal(value, context)]);
    },
    open: (sealed, context) => {
      if (sealed.length < INFO_BYTES) throw new Error('the stored data was shorter than the required size');
      const key = expand(seed, sealed.subarray(0, INFO_BYTES));
      return aesGcm(key).open(sealed.subarray(INFO_BYTES), context);
    },
  };
}

/**
 * Values whose keys come from a seed that the service has encrypted, once, until it says that it has another key. So a write asks no service,
 * and a read asks once for each seed.
 */
export class KmsV2Transformer implements Transformer {
  readonly prefix: Buffer;
  readonly #client: KmsV2Client;
  readonly #ciphers = new LRUCache<string, Cipher>({ max: MAX_SEEDS });
  /** The key of the service, as it last said. */
  #keyId = '';
  #writing: Writing | undefined;
  #refreshing: Promise<Writing> | undefined;
  #refreshAt = 0;
  #problem: Error | undefined;

  constructor({ name }: Pick<KmsProvider, 'name'>, client: KmsV2Client) {
    this.prefix = Buffer.from(`k8s:enc:kms:v2:${name}:`);
    this.#client = client;
  }

  async seal(value: Uint8Array, context: string): Promise<Buffer> {
    const { source, cipher } = await this.#current();
    const data = cipher.seal(value, context);
    return Buffer.concat([this.prefix, encodeEncryptedObject({ data, source, sourceType: 'seed' })]);
  }

  async open(sealed: Buffer, context: string): Promise<Opened> {
    const { data, source, sourceType } = decodeEncryptedObject(sealed.subarray(this.prefix.length));
    const id = `${sourceType} ${source.keyId} ${source.ciphertext.toString('base64')}`;
    let cipher = this.#ciphers.get(id);
    if (cipher === undefined) {
      const secret = await this.#client.decrypt(source, randomUUID());
      if (secret.length !== SEED_BYTES) throw new Error(`the KMS provider gave a key of ${secret.length} bytes`);
      cipher = sourceType === 'seed' ? seededGcm(secret) : aesGcm(secret);
      this.#ciphers.set(id, cipher);
    }
    return { value: cipher.open(data, context), isStale: this.#keyId !== '' && source.keyId !== this.#keyId };
  }

  /** Rejects when the service cannot be used. */
  async check(): Promise<void> {
    await this.#current();
    if (this.#problem !== undefined) throw this.#problem;
  }

  /** What to write with; a service that is away writes on with the seed that there is. */
  #current(): Promise<Writing> | Writing {
    if (this.#writing !== undefined && performance.now() < this.#refreshAt) return this.#writing;
    this.#refreshing ??= this.#refresh().finally(() => (this.#refreshing = undefined));
    if (this.#writing === undefined) return this.#refreshing;
    this.#refreshing.catch(() => undefined);
    return this.#writing;
  }

  async #refresh(): Promise<Writing> {
    try {
      const { healthz, keyId, version } = await this.#client.status();
      if (healthz !== 'ok') throw new Error(`got unexpected healthz status: ${healthz}`);
      if (version !== 'v2' && version !== 'v2beta1') throw new Error(`expected KMSv2 API version v2, got ${version}`);
      if (keyId === '') throw new Error('expected KMS V2 key_id to be set, got empty');
      if (this.#writing === undefined || keyId !== this.#writing.source.keyId)
        this.#writing = await this.#newSeed(keyId);
      this.#keyId = keyId;
      this.#problem = undefined;
      this.#refreshAt = performance.now() + STATUS_MS;
      return this.#writing;
    } catch (error) {
      this.#problem = error as Error;
      this.#refreshAt = performance.now() + RETRY_MS;
      if (this.#writing === undefined) throw error;
      return this.#writing;
    }
  }

  async #newSeed(keyId: string): Promise<Writing> {
    const seed = randomBytes(SEED_BYTES);
    const source = await this.#client.encrypt(seed, randomUUID());
    if (source.keyId !== keyId) {
      throw new Error(
        `the KMS provider encrypts with the key ${JSON.stringify(source.keyId)}, and says ${JSON.stringify(keyId)}`,
      );
    }
    const cipher = seededGcm(seed);
    this.#ciphers.set(`seed ${source.keyId} ${source.ciphertext.toString('base64')}`, cipher);
    return { source, cipher };
  }
}
