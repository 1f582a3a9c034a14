import { ErrorCode, Http2Error, protocolError } from './http2-error';

/** RFC 9113, section 6. */
export const FrameType = {
  DATA: 0x0,
  HEADERS: 0x1,
  PRIORITY: 0x2,
  RST_STREAM: 0x3,
  SETTINGS: 0x4,
  PUSH_PROMISE: 0x5,
  PING: 0x6,
  GOAWAY: 0x7,
  WINDOW_UPDATE: 0x8,
  CONTINUATION: 0x9,
} as const;

export const Flag = {
  /** Of DATA and HEADERS: nothing follows on this stream. */
  END_STREAM: 0x1,
  /** Of SETTINGS and PING. */
  ACK: 0x1,
  END_HEADERS: 0x4,
  PADDED: 0x8,
  PRIORITY: 0x20,
} as const;

export const Setting = {
  HEADER_TABLE_SIZE: 0x1,
  ENABLE_PUSH: 0x2,
  MAX_CONCURRENT_STREAMS: 0x3,
  INITIAL_WINDOW_SIZE: 0x4,
  MAX_FRAME_SIZE: 0x5,
  MAX_HEADER_LIST_SIZE: 0x6,
} as const;

/** What a client sends before its first frame. */
export const PREFACE: Buffer = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** What everyone takes and, unless asked for more, sends. */
export const MAX_FRAME_BYTES = 16_384;
/** The most that a setting may ask for. */
const MAX_FRAME_BYTES_LIMIT = 2 ** 24 - 1;
export const DEFAULT_WINDOW_BYTES = 65_535;
export const MAX_WINDOW_BYTES = 2 ** 31 - 1;
export const MAX_STREAM_ID = 2 ** 31 - 1;

export const HEADER_BYTES = 9;
const PING_BYTES = 8;
const PRIORITY_BYTES = 5;
const SETTING_BYTES = 6;
/** Without the reason in words. */
const GOAWAY_BYTES = 8;
const NOTHING: Buffer = Buffer.alloc(0);

/** What stands before a frame's payload. */
export function frameHeader(length: number, type: number, flags: number, streamId: number): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES);
  writeFrameHeader(bytes, 0, length, type, flags, streamId);
  return bytes;
}

export function writeFrameHeader(
  target: Buffer,
  at: number,
  length: number,
  type: number,
  flags: number,
  streamId: number,
): void {
  target[at] = length >>> 16;
  target[at + 1] = length >>> 8;
  target[at + 2] = length;
  target[at + 3] = type;
  target[at + 4] = flags;
  target.writeUInt32BE(streamId, at + 5);
}

export function settingsFrame(settings: readonly (readonly [id: number, value: number])[]): Buffer {
  const bytes = newFrame(SETTING_BYTES * settings.length, FrameType.SETTINGS, 0, 0);
  settings.forEach(([id, value], index) => {
    bytes.writeUInt16BE(id, HEADER_BYTES + SETTING_BYTES * index);
    bytes.writeUInt32BE(value, HEADER_BYTES + SETTING_BYTES * index + 2);
  });
  return bytes;
}

export const SETTINGS_ACK: Buffer = frameHeader(0, FrameType.SETTINGS, Flag.ACK, 0);
export const PING: Buffer = newFrame(PING_BYTES, FrameType.PING, 0, 0).fill(0, HEADER_BYTES);

/** The answer to a PING, with its eight bytes. */
export function pingAck(payload: Buffer): Buffer {
  const bytes = newFrame(PING_BYTES, FrameType.PING, Flag.ACK, 0);
  payload.copy(bytes, HEADER_BYTES);
  return bytes;
}

/** `streamId` 0: of the whole connection. */
export function windowUpdateFrame(streamId: number, bytes: number): Buffer {
  return numberFrame(FrameType.WINDOW_UPDATE, streamId, bytes);
}

export function resetFrame(streamId: number, code: number): Buffer {
  return numberFrame(FrameType.RST_STREAM, streamId, code);
}

/** `lastId`: the last stream of the other side that was looked at. */
export function goAwayFrame(lastId: number, code: number): Buffer {
  const bytes = newFrame(GOAWAY_BYTES, FrameType.GOAWAY, 0, 0);
  bytes.writeUInt32BE(lastId, HEADER_BYTES);
  bytes.writeUInt32BE(code, HEADER_BYTES + 4);
  return bytes;
}

/** What remains of the payload of DATA or HEADERS without padding and priority. Throws an {@link Http2Error}. */
export function contentOf(type: number, flags: number, payload: Buffer): Buffer {
  const isPadded = (flags & Flag.PADDED) !== 0;
  const hasPriority = type === FrameType.HEADERS && (flags & Flag.PRIORITY) !== 0;
  if (!isPadded && !hasPriority) return payload;
  const from = (isPadded ? 1 : 0) + (hasPriority ? PRIORITY_BYTES : 0);
  const to = payload.length - (isPadded ? (payload[0] ?? 0) : 0);
  if (from > to) throw new Http2Error(ErrorCode.PROTOCOL_ERROR, 'a frame is all padding and more');
  return payload.subarray(from, to);
}

export type FrameHandler = (type: number, flags: number, streamId: number, payload: Buffer) => void;

/** Memory for the beginning of a frame: doubles as its bytes come, so that announcing more gets no more. */
const FIRST_PARTIAL_BYTES = 1_024;

/** Finds the frames in a stream of bytes, however it is cut. Only frames that are cut in two are copied. */
export class FrameReader {
  /** The beginning of a frame whose end has not come yet. */
  #partial = NOTHING;
  #filled = 0;
  /** Where that frame will end; Infinity as long as its header is not whole. */
  #end = Infinity;
  #frames = 0;

  constructor(private readonly maxFrameBytes = MAX_FRAME_BYTES) {}

  /** Frames that have come to their end. */
  get frames(): number {
    return this.#frames;
  }

  /** A frame has begun and not ended. */
  get isWithinFrame(): boolean {
    return this.#filled > 0;
  }

  /** Memory that is held for a frame that has begun. */
  get heldBytes(): number {
    return this.#partial.length;
  }

  /** Throws an {@link Http2Error} for a frame that is too large, and whatever `take` throws. */
  push(chunk: Buffer, take: FrameHandler): void {
    let at = 0;
    while (at < chunk.length) {
      const end = this.#filled === 0 ? this.#endOfFrame(chunk, at, chunk.length) : Infinity;
      if (end <= chunk.length) {
        this.#frames++;
        takeFrame(chunk, at, end, take);
        at = end;
      } else {
        at += this.#fill(chunk, at, take);
      }
    }
  }

  /** Returns how many bytes it took. */
  #fill(chunk: Buffer, at: number, take: FrameHandler): number {
    const wanted = Math.min(this.#filled < HEADER_BYTES ? HEADER_BYTES : this.#end, this.#filled + chunk.length - at);
    const taken = wanted - this.#filled;
    if (wanted > this.#partial.length) this.#grow(wanted);
    chunk.copy(this.#partial, this.#filled, at, at + taken);
    this.#filled = wanted;
    if (wanted === HEADER_BYTES) this.#end = this.#endOfFrame(this.#partial, 0, wanted);
    if (wanted === this.#end) {
      const whole = this.#partial;
      this.#partial = NOTHING;
      this.#filled = 0;
      this.#end = Infinity;
      this.#frames++;
      takeFrame(whole, 0, wanted, take);
    }
    return taken;
  }

  #grow(wanted: number): void {
    const doubled = Math.max(FIRST_PARTIAL_BYTES, 2 * this.#partial.length, wanted);
    const bytes = Buffer.allocUnsafe(Math.min(doubled, Math.max(this.#end, HEADER_BYTES)));
    this.#partial.copy(bytes, 0, 0, this.#filled);
    this.#partial = bytes;
  }

  #endOfFrame(bytes: Buffer, at: number, to: number): number {
    if (to - at < HEADER_BYTES) return Infinity;
    const length = bytes.readUIntBE(at, 3);
    if (length > this.maxFrameBytes) throw new Http2Error(ErrorCode.FRAME_SIZE_ERROR, `a frame of ${length} bytes`);
    return at + HEADER_BYTES + length;
  }
}

/** A frame whose payload has a fixed length. Throws an {@link Http2Error} for another one. */
export function checkLength(frame: string, payload: Buffer, length: number): void {
  if (payload.length === length) return;
  throw new Http2Error(ErrorCode.FRAME_SIZE_ERROR, `a ${frame} of ${payload.length} bytes`);
}

/** A window after it has grown. Throws an {@link Http2Error} when that is beyond what there may be. */
export function checkedWindow(bytes: number): number {
  if (bytes <= MAX_WINDOW_BYTES) return bytes;
  throw new Http2Error(ErrorCode.FLOW_CONTROL_ERROR, 'a window is too large');
}

/** Whether a SETTINGS frame only acknowledges ours. Throws an {@link Http2Error}. */
export function isSettingsAck(flags: number, streamId: number, payload: Buffer): boolean {
  const isAck = (flags & Flag.ACK) !== 0;
  if (streamId !== 0) throw protocolError('SETTINGS of a stream');
  if (payload.length % SETTING_BYTES !== 0 || (isAck && payload.length > 0)) checkLength('SETTINGS', payload, 0);
  return isAck;
}

export function forEachSetting(payload: Buffer, take: (id: number, value: number) => void): void {
  for (let at = 0; at < payload.length; at += SETTING_BYTES)
    take(payload.readUInt16BE(at), payload.readUInt32BE(at + 2));
}

/** The largest frame that the other side takes, in its settings. Throws an {@link Http2Error}. */
export function checkMaxFrameSize(bytes: number): void {
  if (bytes < MAX_FRAME_BYTES || bytes > MAX_FRAME_BYTES_LIMIT) throw protocolError(`frames of ${bytes} bytes`);
}

/** Whether a PING wants to be answered. Throws an {@link Http2Error}. */
export function isPingRequest(flags: number, streamId: number, payload: Buffer): boolean {
  checkLength('PING', payload, PING_BYTES);
  if (streamId !== 0) throw protocolError('a PING of a stream');
  return (flags & Flag.ACK) === 0;
}

/** Throws an {@link Http2Error} for a GOAWAY that is none. */
export function checkGoAway(streamId: number, payload: Buffer): void {
  if (streamId !== 0) throw protocolError('a GOAWAY of a stream');
  if (payload.length < GOAWAY_BYTES) checkLength('GOAWAY', payload, GOAWAY_BYTES);
}

/** By how much a WINDOW_UPDATE lets us send more. Throws an {@link Http2Error}. */
export function windowIncrement(payload: Buffer): number {
  checkLength('WINDOW_UPDATE', payload, 4);
  const bytes = payload.readUInt32BE() & MAX_WINDOW_BYTES;
  if (bytes === 0) throw protocolError('a window grows by nothing');
  return bytes;
}

function takeFrame(bytes: Buffer, at: number, end: number, take: FrameHandler): void {
  const streamId = bytes.readUInt32BE(at + 5) & 0x7fff_ffff;
  take(
    bytes[at + 3]!,
    bytes[at + 4]!,
    streamId,
    end === at + HEADER_BYTES ? NOTHING : bytes.subarray(at + HEADER_BYTES, end),
  );
}

function numberFrame(type: number, streamId: number, value: number): Buffer {
  const bytes = newFrame(4, type, 0, streamId);
  bytes.writeUInt32BE(value, HEADER_BYTES);
  return bytes;
}

/** A frame whose payload is still to be written. */
function newFrame(length: number, type: number, flags: number, streamId: number): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + length);
  writeFrameHeader(bytes, 0, length, type, flags, streamId);
  return bytes;
}
