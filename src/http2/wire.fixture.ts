import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { Flag, frameHeader, FrameReader, FrameType } from './frames';

const PREFACE_BYTES = 24;

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

/** The other end of a connection, played by hand. */
export class Wire extends Duplex {
  writes = 0;
  #written = Buffer.alloc(0);
  #held: (() => void)[] | undefined;

  override _read(): void {
    // Tests push.
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    const write = (): void => {
      this.writes++;
      this.#written = Buffer.concat([this.#written, chunk]);
      done();
    };
    if (this.#held === undefined) write();
    else this.#held.push(write);
  }

  /** Keeps what is written to itself until the result is called. */
  hold(): () => void {
    const held: (() => void)[] = [];
    this.#held = held;
    return () => {
      this.#held = undefined;
      for (const write of held) write();
    };
  }

  /** What was sent since the last question. */
  async frames(): Promise<Frame[]> {
    await turn();
    const frames: Frame[] = [];
    const bytes = this.#written.subarray(this.#written.subarray(0, 3).toString() === 'PRI' ? PREFACE_BYTES : 0);
    new FrameReader().push(bytes, (type, flags, streamId, payload) => frames.push({ type, flags, streamId, payload }));
    this.#written = Buffer.alloc(0);
    return frames;
  }

  /** What comes is only there during the call. */
  giveTo(connection: { receive(chunk: Buffer): void }): void {
    this.on('data', (chunk: Buffer) => {
      const memory = Buffer.from(chunk);
      connection.receive(memory);
      memory.fill(0xaa);
    });
  }

  async send(...parts: readonly Uint8Array[]): Promise<void> {
    this.push(Buffer.concat(parts));
    await turn();
  }
}

export function frame(type: number, flags: number, streamId: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  return Buffer.concat([frameHeader(payload.length, type, flags, streamId), payload]);
}

export function data(streamId: number, text: string, flags = 0): Buffer {
  return frame(FrameType.DATA, flags, streamId, Buffer.from(text));
}

export function headers(streamId: number, block: Buffer, flags = 0): Buffer {
  return frame(FrameType.HEADERS, flags | Flag.END_HEADERS, streamId, block);
}

export function goAway(lastId: number, code: number): Buffer {
  const payload = Buffer.alloc(8);
  payload.writeUInt32BE(lastId, 0);
  payload.writeUInt32BE(code, 4);
  return frame(FrameType.GOAWAY, 0, 0, Buffer.concat([payload, Buffer.from('bye')]));
}

/** What DATA frames carried, with a full stop where they end the stream. */
export function sentData(frames: readonly Frame[]): string[] {
  return frames
    .filter(({ type }) => type === FrameType.DATA)
    .map(({ streamId, payload, flags }) => `${streamId}: ${payload.toString()}${flags & Flag.END_STREAM ? '.' : ''}`);
}
