import { Reader, Writer } from 'protobufjs/minimal';
import { GrpcChannel } from '../etcd/grpc-channel';
import { GrpcCode, GrpcError } from '../etcd/grpc-error';

/** How a key management service has encrypted something. */
export interface KmsEncrypted {
  readonly ciphertext: Buffer;
  readonly keyId: string;
  readonly annotations: ReadonlyMap<string, Buffer>;
}

/** Fields of a message with values of varying length, by their numbers: repeated ones in order. */
type Fields = ReadonlyMap<number, readonly Buffer[]>;

const LENGTH_DELIMITED = 2;
const tag = (field: number): number => (field << 3) | LENGTH_DELIMITED;

function readFields(message: Uint8Array): Fields {
  const reader = Reader.create(message);
  const fields = new Map<number, Buffer[]>();
  while (reader.pos < reader.len) {
    const head = reader.uint32();
    if ((head & 7) !== LENGTH_DELIMITED) {
      reader.skipType(head & 7);
      continue;
    }
    const bytes = Buffer.from(reader.bytes());
    const known = fields.get(head >>> 3);
    if (known === undefined) fields.set(head >>> 3, [bytes]);
    else known.push(bytes);
  }
  return fields;
}

const bytesOf = (fields: Fields, number: number): Buffer => fields.get(number)?.at(-1) ?? Buffer.alloc(0);
const textOf = (fields: Fields, number: number): string => bytesOf(fields, number).toString('utf8');

function annotationsOf(fields: Fields, number: number): ReadonlyMap<string, Buffer> {
  return new Map(
    (fields.get(number) ?? []).map((entry) => {
      const pair = readFields(entry);
      return [textOf(pair, 1), bytesOf(pair, 2)];
    }),
  );
}

const NOBODY_ANSWERED: ReadonlySet<number> = new Set([GrpcCode.deadlineExceeded, GrpcCode.unavailable]);

/** Calls of a key management plugin (k8s.io/kms) on a Unix socket. Each rejects with a GrpcError. */
class KmsChannel {
  readonly #channel: GrpcChannel;
  readonly #timeoutMs: number;
  /** Why the last call to open a value has failed, when the service did not answer. */
  #away: GrpcError | undefined;
  #awayUntil = 0;

  constructor(socket: string, timeoutMs: number) {
    this.#channel = new GrpcChannel(`unix://${socket}`, undefined);
    this.#timeoutMs = timeoutMs;
  }

  async call(path: string, request: Writer): Promise<Fields> {
    return readFields(await this.#channel.unary(path, request.finish(), this.#timeoutMs, undefined));
  }

  /**
   * The same for what is asked for thousands of values one after another: when no plugin has answered, none is waited for again
   * for as long as that has taken.
   */
  async decrypt(path: string, request: Writer): Promise<Fields> {
    if (this.#away !== undefined && performance.now() < this.#awayUntil) throw this.#away;
    try {
      const response = await this.call(path, request);
      this.#away = undefined;
      return response;
    } catch (error) {
      if (error instanceof GrpcError && NOBODY_ANSWERED.has(error.code)) {
        this.#away = error;
        this.#awayUntil = performance.now() + this.#timeoutMs;
      }
      throw error;
    }
  }

  close(): void {
    this.#channel.close();
  }
}

const VERSION_1 = 'v1beta1';
const V1 = '/v1beta1.KeyManagementService/';
const V2 = '/v2.KeyManagementService/';

/** The first version of the plugins' interface. */
export class KmsV1Client {
  readonly #channel: KmsChannel;

  constructor(socket: string, timeoutMs: number) {
    this.#channel = new KmsChannel(socket, timeoutMs);
  }

  /** Rejects when the plugin speaks another version. */
  async checkVersion(): Promise<void> {
    const version = textOf(await this.#call('Version', Writer.create().uint32(tag(1)).string(VERSION_1)), 1);
    if (version !== VERSION_1) {
      throw new Error(`KMS provider api version ${version} is not supported, only ${VERSION_1} is supported now`);
    }
  }

  async encrypt(plain: Uint8Array): Promise<Buffer> {
    return bytesOf(await this.#call('Encrypt', this.#request(plain)), 1);
  }

  async decrypt(cipher: Uint8Array): Promise<Buffer> {
    return bytesOf(await this.#channel.decrypt(`${V1}Decrypt`, this.#request(cipher)), 1);
  }

  close(): void {
    this.#channel.close();
  }

  #request(bytes: Uint8Array): Writer {
    return Writer.create().uint32(tag(1)).string(VERSION_1).uint32(tag(2)).bytes(bytes);
  }

  #call(method: string, request: Writer): Promise<Fields> {
    return this.#channel.call(`${V1}${method}`, request);
  }
}

/** The second version of the plugins' interface. `uid`: for the logs of both sides. */
export class KmsV2Client {
  readonly #channel: KmsChannel;

  constructor(socket: string, timeoutMs: number) {
    this.#channel = new KmsChannel(socket, timeoutMs);
  }

  /** The plugin's version, `ok` or what ails it, and the key that it encrypts with. */
  async status(): Promise<{ readonly version: string; readonly healthz: string; readonly keyId: string }> {
    const fields = await this.#call('Status', Writer.create());
    return { version: textOf(fields, 1), healthz: textOf(fields, 2), keyId: textOf(fields, 3) };
  }

  async encrypt(plaintext: Uint8Array, uid: string): Promise<KmsEncrypted> {
    const fields = await this.#call(
      'Encrypt',
      Writer.create().uint32(tag(1)).bytes(plaintext).uint32(tag(2)).string(uid),
    );
    return { ciphertext: bytesOf(fields, 1), keyId: textOf(fields, 2), annotations: annotationsOf(fields, 3) };
  }

  async decrypt({ ciphertext, keyId, annotations }: KmsEncrypted, uid: string): Promise<Buffer> {
    const request = Writer.create()
      .uint32(tag(1))
      .bytes(ciphertext)
      .uint32(tag(2))
      .string(uid)
      .uint32(tag(3))
      .string(keyId);
    writeAnnotations(request, 4, annotations);
    return bytesOf(await this.#channel.decrypt(`${V2}Decrypt`, request), 1);
  }

  close(): void {
    this.#channel.close();
  }

  #call(method: string, request: Writer): Promise<Fields> {
    return this.#channel.call(`${V2}${method}`, request);
  }
}

function writeAnnotations(writer: Writer, number: number, annotations: ReadonlyMap<string, Buffer>): void {
  for (const [name, value] of annotations) {
    writer.uint32(tag(number)).fork().uint32(tag(1)).string(name).uint32(tag(2)).bytes(value).ldelim();
  }
}

/** What a value of KMS v2 is in the store: k8s.io/apiserver's `EncryptedObject`. */
export interface EncryptedObject {
  readonly data: Buffer;
  /** The encrypted seed of the value's key, or the key itself, and who can decrypt it. */
  readonly source: KmsEncrypted;
  readonly sourceType: 'key' | 'seed';
}

const SOURCE_TYPE_FIELD = 5;
const SEED = 1;

export function encodeEncryptedObject({ data, source, sourceType }: EncryptedObject): Buffer {
  const writer = Writer.create();
  writer.uint32(tag(1)).bytes(data).uint32(tag(2)).string(source.keyId).uint32(tag(3)).bytes(source.ciphertext);
  writeAnnotations(writer, 4, source.annotations);
  if (sourceType === 'seed') writer.uint32(SOURCE_TYPE_FIELD << 3).int32(SEED);
  return Buffer.from(writer.finish());
}

/** Throws when the bytes are none. */
export function decodeEncryptedObject(bytes: Uint8Array): EncryptedObject {
  const fields = readFields(bytes);
  const source = { keyId: textOf(fields, 2), ciphertext: bytesOf(fields, 3), annotations: annotationsOf(fields, 4) };
  return { data: bytesOf(fields, 1), source, sourceType: sourceTypeOf(bytes) };
}

function sourceTypeOf(bytes: Uint8Array): EncryptedObject['sourceType'] {
  const reader = Reader.create(bytes);
  let type = 0;
  while (reader.pos < reader.len) {
    const head = reader.uint32();
    if (head === SOURCE_TYPE_FIELD << 3) type = reader.int32();
    else reader.skipType(head & 7);
  }
  if (type !== 0 && type !== SEED) throw new Error(`unknown encryptedDEKSourceType: ${type}`);
  return type === SEED ? 'seed' : 'key';
}
