import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import {
  Server,
  ServerCredentials,
  status,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServiceDefinition,
} from '@grpc/grpc-js';
import protobuf from 'protobufjs';

const PROTO = `
syntax = "proto3";
message VersionRequest { string version = 1; }
message VersionResponse { string version = 1; string runtime_name = 2; string runtime_version = 3; }
message V1Request { string version = 1; bytes bytes = 2; }
message V1Response { bytes bytes = 1; }
message StatusRequest {}
message StatusResponse { string version = 1; string healthz = 2; string key_id = 3; }
message EncryptRequest { bytes plaintext = 1; string uid = 2; }
message EncryptResponse { bytes ciphertext = 1; string key_id = 2; map<string, bytes> annotations = 3; }
message DecryptRequest { bytes ciphertext = 1; string uid = 2; string key_id = 3; map<string, bytes> annotations = 4; }
message DecryptResponse { bytes plaintext = 1; }
`;

interface Message {
  readonly bytes?: Buffer;
  readonly plaintext?: Buffer;
  readonly ciphertext?: Buffer;
  readonly key_id?: string;
}

/** A key management service of both versions, on a Unix socket. */
export class KmsPlugin {
  /** The key that it encrypts with, by its name; all are kept. */
  keyId = 'key-1';
  /** What its status says of its health. */
  healthz = 'ok';
  /** It does not answer while this is set. */
  hangs = false;
  /** What it was asked, in order: `v2 Encrypt`. */
  readonly asked: string[] = [];
  readonly #keys = new Map<string, Buffer>();
  readonly #server = new Server();
  readonly #types = protobuf.parse(PROTO, { keepCase: true }).root;

  /** `socket`: a path. */
  static async start(socket: string): Promise<KmsPlugin> {
    const plugin = new KmsPlugin();
    await new Promise<void>((resolve, reject) =>
      plugin.#server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      ),
    );
    return plugin;
  }

  private constructor() {
    this.#serve('v1beta1', {
      Version: [
        'VersionRequest',
        'VersionResponse',
        () => ({ version: 'v1beta1', runtime_name: 'test', runtime_version: '1' }),
      ],
      Encrypt: ['V1Request', 'V1Response', ({ bytes }) => ({ bytes: this.#seal(bytes, this.keyId) })],
      Decrypt: ['V1Request', 'V1Response', ({ bytes }) => ({ bytes: this.#open(bytes, this.keyId) })],
    });
    this.#serve('v2', {
      Status: ['StatusRequest', 'StatusResponse', () => ({ version: 'v2', healthz: this.healthz, key_id: this.keyId })],
      Encrypt: [
        'EncryptRequest',
        'EncryptResponse',
        ({ plaintext }) => ({
          ciphertext: this.#seal(plaintext, this.keyId),
          key_id: this.keyId,
          annotations: { 'made-by.example.com': Buffer.from('test') },
        }),
      ],
      Decrypt: [
        'DecryptRequest',
        'DecryptResponse',
        ({ ciphertext, key_id: keyId }) => ({ plaintext: this.#open(ciphertext, keyId ?? '') }),
      ],
    });
  }

  stop(): void {
    this.#server.forceShutdown();
  }

  #serve(
    version: string,
    methods: Readonly<Record<string, readonly [string, string, (request: Message) => object]>>,
  ): void {
    const definition: Record<string, ServiceDefinition[string]> = {};
    const handlers: Record<string, (call: ServerUnaryCall<Message, object>, done: sendUnaryData<object>) => void> = {};
    for (const [method, [requestType, responseType, answer]] of Object.entries(methods)) {
      const [request, response] = [this.#types.lookupType(requestType), this.#types.lookupType(responseType)];
      definition[method] = {
        path: `/${version}.KeyManagementService/${method}`,
        requestStream: false,
        responseStream: false,
        requestSerialize: () => Buffer.alloc(0),
        requestDeserialize: (bytes) => request.decode(bytes),
        responseSerialize: (value: object) => Buffer.from(response.encode(response.fromObject(value)).finish()),
        responseDeserialize: () => ({}),
      };
      handlers[method] = ({ request: asked }, done) => {
        this.asked.push(`${version} ${method}`);
        if (this.hangs) return;
        try {
          done(null, answer(asked));
        } catch (error) {
          done({ code: status.INTERNAL, details: (error as Error).message });
        }
      };
    }
    this.#server.addService(definition, handlers);
  }

  #keyOf(id: string): Buffer {
    const key = this.#keys.get(id) ?? randomBytes(32);
    this.#keys.set(id, key);
    return key;
  }

  #seal(plain: Buffer | undefined, keyId: string): Buffer {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.#keyOf(keyId), nonce);
    return Buffer.concat([nonce, cipher.update(plain ?? ''), cipher.final(), cipher.getAuthTag()]);
  }

  #open(sealed: Buffer | undefined, keyId: string): Buffer {
    const bytes = Buffer.from(sealed ?? '');
    const decipher = createDecipheriv('aes-256-gcm', this.#keyOf(keyId), bytes.subarray(0, 12));
    decipher.setAuthTag(bytes.subarray(-16));
    return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]);
  }
}
