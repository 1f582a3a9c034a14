/**
 * Reads HTTP/1.1 responses off one connection, as little of them as a measurement needs: the status, where it ends,
 * and its bytes only when they are asked for. Node's own client costs more per request than the servers under test do, and
 * on one machine that cost would be measured instead of theirs.
 */

import type { LoadResponse, ResponseSink } from './load-connection';

const HEAD_END = Buffer.from('\r\n\r\n');
const EMPTY = Buffer.alloc(0);

export class ResponseReader {
  private waiting: Buffer = EMPTY;
  private state: 'head' | 'sized' | 'chunk size' | 'chunk' | 'trailer' = 'head';
  private status = 0;
  private head = '';
  private bytes = 0;
  /** Bytes of the body, or of the current chunk with its line end, that are still to come. */
  private left = 0;

  /**
   * `onHead(status)` and `onEnd({ status, head, bytes })` are called once per response, `onBody(piece)` with the body's bytes
   * as they come, without chunk marks.
   */
  constructor(private readonly sink: Required<ResponseSink> & { readonly onEnd: (response: LoadResponse) => void }) {}

  private begin(): void {
    this.state = 'head';
    this.status = 0;
    this.head = '';
    this.bytes = 0;
    this.left = 0;
  }

  push(data: Buffer): void {
    let rest: Buffer | undefined = this.waiting.length === 0 ? data : Buffer.concat([this.waiting, data]);
    this.waiting = EMPTY;
    while (rest !== undefined && rest.length > 0) {
      const next = this.step(rest);
      if (next === undefined) this.waiting = rest;
      rest = next;
    }
  }

  /** What follows after one step; undefined when more bytes are needed. */
  private step(data: Buffer): Buffer | undefined {
    switch (this.state) {
      case 'head':
        return this.readHead(data);
      case 'sized':
        return this.readSized(data);
      case 'chunk size':
        return this.readChunkSize(data);
      case 'chunk':
        return this.readChunk(data);
      case 'trailer':
        return this.readTrailer(data);
    }
  }

  private readHead(data: Buffer): Buffer | undefined {
    const end = data.indexOf(HEAD_END);
    if (end < 0) return undefined;
    this.head = data.toString('latin1', 0, end);
    this.status = Number(this.head.slice(9, 12));
    this.sink.onHead(this.status);
    const rest = data.subarray(end + HEAD_END.length);
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.head);
    if (length !== null) {
      this.state = 'sized';
      this.left = Number(length[1]);
      if (this.left === 0) this.finish();
    } else if (/\r\ntransfer-encoding: *chunked/i.test(this.head)) {
      this.state = 'chunk size';
    } else {
      this.finish();
    }
    return rest;
  }

  private readSized(data: Buffer): Buffer {
    const piece = this.consume(data, this.left);
    this.left -= piece.length;
    if (this.left === 0) this.finish();
    return data.subarray(piece.length);
  }

  private readChunkSize(data: Buffer): Buffer | undefined {
    const end = data.indexOf('\r\n');
    if (end < 0) return undefined;
    const size = Number.parseInt(data.toString('latin1', 0, end), 16);
    this.state = size === 0 ? 'trailer' : 'chunk';
    this.left = size + 2;
    return data.subarray(end + 2);
  }

  private readChunk(data: Buffer): Buffer {
    const body = this.consume(data, Math.max(this.left - 2, 0));
    const consumed = Math.min(data.length, this.left);
    this.left -= consumed;
    if (this.left === 0) this.state = 'chunk size';
    return data.subarray(Math.max(consumed, body.length));
  }

  private readTrailer(data: Buffer): Buffer | undefined {
    if (data.length < 2) return undefined;
    this.finish();
    return data.subarray(2);
  }

  private consume(data: Buffer, length: number): Buffer {
    const piece = data.length <= length ? data : data.subarray(0, length);
    if (piece.length === 0) return piece;
    this.bytes += piece.length;
    this.sink.onBody(piece);
    return piece;
  }

  private finish(): void {
    const { status, head, bytes } = this;
    this.begin();
    this.sink.onEnd({ status, head, bytes });
  }
}
