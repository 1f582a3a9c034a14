import { constants, createDeflateRaw, type DeflateRaw } from 'node:zlib';
import { joinPieces } from '../../pieces';

/**
 * A full flush after each write ends it at a byte and forgets what came before, so that it can be decompressed behind
 * anything. The level is the one that costs least, as in kube-apiserver.
 */
const OPTIONS = { level: 1, flush: constants.Z_FULL_FLUSH, chunkSize: 32 * 1024 };
/** What such a flush ends with: an empty stored block. */
const FLUSHED = Buffer.from([0, 0, 0xff, 0xff]);
/** As many as the thread pool has threads; zlib takes about 256 KiB for each. */
const MAX_IDLE = 4;

interface Deflater {
  readonly stream: DeflateRaw;
  /** The output of the write under way. */
  chunks: Buffer[];
}

const idle: Deflater[] = [];

/**
 * Compresses bytes on the thread pool to a piece of a deflate stream that can stand anywhere but at the end of one. The
 * bytes must not change until then. Streams are used again: to set one up costs a fifth of what it is used for here.
 */
export async function deflatePiece(bytes: Buffer): Promise<Buffer> {
  const deflater = idle.pop() ?? newDeflater();
  await written(deflater.stream, bytes);
  const piece = joinPieces(deflater.chunks);
  if (!piece.subarray(-FLUSHED.length).equals(FLUSHED)) throw new Error('zlib has not given all of its output');
  deflater.chunks = [];
  // One that has failed does not come here.
  if (idle.length < MAX_IDLE) idle.push(deflater);
  else deflater.stream.destroy();
  return piece;
}

function newDeflater(): Deflater {
  const stream = createDeflateRaw(OPTIONS);
  const deflater: Deflater = { stream, chunks: [] };
  stream.on('data', (chunk: Buffer) => deflater.chunks.push(chunk));
  // The caller of the write is told.
  stream.on('error', () => undefined);
  return deflater;
}

/** A stream that flows has given the output of a write when its callback comes. */
function written(stream: DeflateRaw, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}
