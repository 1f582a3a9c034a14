/**
 * Reads HTTP/1.1 answers off one connection, as little of them as a measurement needs: the status, where the answer
 * ends, and its bytes only for whoever asks. Node's own client costs more per request than the servers under test do, and
 * on one machine that cost would be measured instead of theirs.
 */

const HEAD_END = Buffer.from('\r\n\r\n');
const EMPTY = Buffer.alloc(0);

class AnswerReader {
  /**
   * `onHead(status)` and `onEnd({ status, head, bytes })` are called once per answer, `onBody(piece)` with the body's bytes
   * as they come, without chunk marks.
   */
  constructor({ onHead, onBody, onEnd }) {
    this.onHead = onHead;
    this.onBody = onBody;
    this.onEnd = onEnd;
    this.waiting = EMPTY;
    this.begin();
  }

  begin() {
    this.state = 'head';
    this.status = 0;
    this.head = '';
    this.bytes = 0;
    /** Bytes of the body, or of the current chunk with its line end, that are still to come. */
    this.left = 0;
  }

  push(data) {
    let rest = this.waiting.length === 0 ? data : Buffer.concat([this.waiting, data]);
    this.waiting = EMPTY;
    while (rest !== undefined && rest.length > 0) {
      const next = this.step(rest);
      if (next === undefined) this.waiting = rest;
      rest = next;
    }
  }

  /** What follows after one step; undefined when more bytes are needed. */
  step(data) {
    switch (this.state) {
      case 'head':
        return this.readHead(data);
      case 'sized':
        return this.readSized(data);
      case 'chunk size':
        return this.readChunkSize(data);
      case 'chunk':
        return this.readChunk(data);
      default:
        return this.readTrailer(data);
    }
  }

  readHead(data) {
    const end = data.indexOf(HEAD_END);
    if (end < 0) return undefined;
    this.head = data.latin1Slice(0, end);
    this.status = Number(this.head.slice(9, 12));
    this.onHead(this.status);
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

  readSized(data) {
    const piece = this.take(data, this.left);
    this.left -= piece.length;
    if (this.left === 0) this.finish();
    return data.subarray(piece.length);
  }

  readChunkSize(data) {
    const end = data.indexOf('\r\n');
    if (end < 0) return undefined;
    const size = Number.parseInt(data.latin1Slice(0, end), 16);
    this.state = size === 0 ? 'trailer' : 'chunk';
    this.left = size + 2;
    return data.subarray(end + 2);
  }

  readChunk(data) {
    const body = this.take(data, Math.max(this.left - 2, 0));
    const consumed = Math.min(data.length, this.left);
    this.left -= consumed;
    if (this.left === 0) this.state = 'chunk size';
    return data.subarray(Math.max(consumed, body.length));
  }

  readTrailer(data) {
    if (data.length < 2) return undefined;
    this.finish();
    return data.subarray(2);
  }

  take(data, length) {
    const piece = data.length <= length ? data : data.subarray(0, length);
    if (piece.length === 0) return piece;
    this.bytes += piece.length;
    this.onBody(piece);
    return piece;
  }

  finish() {
    const { status, head, bytes } = this;
    this.begin();
    this.onEnd({ status, head, bytes });
  }
}

module.exports = { AnswerReader };
