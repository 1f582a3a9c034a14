import { Reader, Writer } from 'protobufjs/minimal';
import { badRequest } from '../errors/status-error';

/**
 * The envelope of Protobuf objects, `k8s\0` and a message that names the kind, and the frames of a Protobuf watch.
 */

export const PROTOBUF_MEDIA_TYPE = 'application/vnd.kubernetes.protobuf';

const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  /** The object's message. */
  readonly raw: Uint8Array;
  readonly contentEncoding: string;
  /** Of `raw`; empty: Protobuf. */
  readonly contentType: string;
}

const NO_MAGIC = `provided data does not appear to be a protobuf message, expected prefix [${[...MAGIC].join(' ')}]`;

export function isEnvelope(bytes: Uint8Array): boolean {
  return bytes.length >= MAGIC.length && MAGIC.every((byte, index) => bytes[index] === byte);
}

const TYPE_META_TAG = 0x0a;
const RAW_TAG = 0x12;
const ENCODING_TAG = 0x1a;
const CONTENT_TYPE_TAG = 0x22;

/** Wraps a message; apiVersion and kind are the object's, all four fields are always there. */
export function encodeEnvelope(
  envelope: Pick<Envelope, 'apiVersion' | 'kind' | 'raw'> & Partial<Pick<Envelope, 'contentEncoding' | 'contentType'>>,
): Uint8Array {
  const writer = Writer.create();
  writer
    .uint32(TYPE_META_TAG)
    .fork()
    .uint32(0x0a)
    .string(envelope.apiVersion)
    .uint32(0x12)
    .string(envelope.kind)
    .ldelim();
  writer.uint32(RAW_TAG).bytes(envelope.raw);
  writer.uint32(ENCODING_TAG).string(envelope.contentEncoding ?? '');
  writer.uint32(CONTENT_TYPE_TAG).string(envelope.contentType ?? '');
  return Buffer.concat([MAGIC, writer.finish()]);
}

/** Opens an envelope; throws Errors that say what is wrong with it. */
export function openEnvelope(bytes: Uint8Array): Envelope {
  if (!isEnvelope(bytes)) throw new Error(NO_MAGIC);
  const reader = Reader.create(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  reader.pos = MAGIC.length;
  const texts = { apiVersion: '', kind: '', contentEncoding: '', contentType: '' };
  let raw: Uint8Array = Buffer.alloc(0);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === TYPE_META_TAG) {
      const end = reader.uint32() + reader.pos;
      while (reader.pos < end) {
        const inner = reader.uint32();
        if (inner === 0x0a) texts.apiVersion = reader.string();
        else if (inner === 0x12) texts.kind = reader.string();
        else reader.skipType(inner & 7, 0, inner >>> 3);
      }
      if (reader.pos !== end) throw new RangeError('the type reaches beyond its message');
    } else if (tag === RAW_TAG) raw = reader.bytes();
    else if (tag === ENCODING_TAG) texts.contentEncoding = reader.string();
    else if (tag === CONTENT_TYPE_TAG) texts.contentType = reader.string();
    else reader.skipType(tag & 7, 0, tag >>> 3);
  }
  return { ...texts, raw };
}

/** Opens the envelope of a request's body or a stored value. Throws a 400 StatusError for anything else. */
export function decodeEnvelope(bytes: Uint8Array): Envelope {
  try {
    return openEnvelope(bytes);
  } catch (error) {
    if (!(error instanceof Error) || error instanceof TypeError) throw error;
    throw badRequest(error instanceof RangeError ? 'unexpected EOF' : error.message);
  }
}

/** One event of a Protobuf watch: its length in four bytes, then WatchEvent with the enveloped object. */
export function encodeWatchFrame(type: string, envelopedObject: Uint8Array): Uint8Array {
  const writer = Writer.create();
  writer.uint32(0x0a).string(type);
  writer.uint32(0x12).fork().uint32(0x0a).bytes(envelopedObject).ldelim();
  const event = writer.finish();
  const frame = Buffer.allocUnsafe(4 + event.length);
  frame.writeUInt32BE(event.length, 0);
  frame.set(event, 4);
  return frame;
}
