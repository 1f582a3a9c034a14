import fc from 'fast-check';
import { Writable } from 'node:stream';
import { BlockPool } from '../memory/block-pool';
import { FrameType, frameHeader } from './frames';
import { WriteBuffer } from './write-buffer';

const BLOCK_BYTES = 1_000;

/** Reads what it was given only when it is told to. */
class SlowSocket extends Writable {
  readonly given: Buffer[] = [];
  readonly #callbacks: (() => void)[] = [];

  constructor() {
    super({ highWaterMark: 1 });
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.given.push(chunk);
    this.#callbacks.push(done);
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    this.given.push(...chunks.map(({ chunk }) => chunk));
    this.#callbacks.push(done);
  }

  /** Everything up to now. */
  async read(): Promise<Buffer> {
    let bytes = Buffer.alloc(0);
    while (this.given.length > 0) {
      bytes = Buffer.concat([bytes, ...this.given.splice(0)]);
      this.#callbacks.shift()?.();
      await new Promise(setImmediate);
    }
    return bytes;
  }
}

describe('a write buffer', () => {
  it('sends what was added, whenever the socket reads it', async () => {
    const step = fc.oneof(
      fc.record({ add: fc.integer({ min: 1, max: 3 * BLOCK_BYTES }) }),
      fc.constant('send' as const),
      fc.constant('read' as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        const writeBuffer = new WriteBuffer([
          new BlockPool(BLOCK_BYTES, 5 * BLOCK_BYTES),
          new BlockPool(2 * BLOCK_BYTES, 5 * BLOCK_BYTES),
        ]);
        const socket = new SlowSocket();
        let added: Uint8Array[] = [];
        let sent: Uint8Array[] = [];
        for (const one of [...steps, 'send' as const, 'read' as const]) {
          if (one === 'send') {
            writeBuffer.sendTo(socket);
            sent.push(...added);
            added = [];
          } else if (one === 'read') {
            expect(await socket.read()).toEqual(Buffer.concat(sent));
            sent = [];
          } else {
            const bytes = Buffer.alloc(one.add, one.add % 251);
            if (one.add % 2 === 0) writeBuffer.add(bytes);
            else writeBuffer.addLatin1(bytes.toString('latin1'));
            added.push(bytes);
          }
          expect(writeBuffer.length).toBe(Buffer.concat(added).length);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('uses the same memory again when the socket has read it', async () => {
    const pool = new BlockPool(BLOCK_BYTES, BLOCK_BYTES);
    const writeBuffer = new WriteBuffer([pool]);
    const memory = new Set<ArrayBufferLike>();
    for (let turn = 0; turn < 100; turn++) {
      const socket = new SlowSocket();
      writeBuffer.addFrameHeader(300, FrameType.DATA, 0, turn);
      writeBuffer.add(Buffer.alloc(300, turn));
      writeBuffer.sendTo(socket);
      memory.add(socket.given[0]!.buffer);
      expect(await socket.read()).toEqual(
        Buffer.concat([frameHeader(300, FrameType.DATA, 0, turn), Buffer.alloc(300, turn)]),
      );
    }
    expect(memory.size).toBe(1);
  });

  it('does not keep memory that one turn needed', async () => {
    const pool = new BlockPool(BLOCK_BYTES, 10 * BLOCK_BYTES);
    const writeBuffer = new WriteBuffer([pool]);
    const socket = new SlowSocket();
    writeBuffer.add(Buffer.alloc(3 * BLOCK_BYTES));
    writeBuffer.sendTo(socket);
    await socket.read();
    expect(pool.acquire().length).toBe(BLOCK_BYTES);
  });
});
