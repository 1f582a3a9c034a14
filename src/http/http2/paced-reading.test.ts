import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { PacedStarts } from '../../async/paced-starts';
import { Wire } from '../../http2/wire.fixture';
import { PacedReading } from './paced-reading';

interface Read {
  readonly wire: Wire;
  readonly reading: PacedReading;
  /** What was handed on, a text per piece. */
  readonly pieces: string[];
  /** Whether the owner of the socket wants it to be read. */
  isWanted: boolean;
}

function read(turns?: PacedStarts, onPiece?: () => void): Read {
  const wire = new Wire();
  const take = (bytes: Buffer): void => {
    onPiece?.();
    result.pieces.push(bytes.toString());
  };
  const reading = new PacedReading(wire as unknown as Socket, take, () => result.isWanted);
  const result: Read = { wire, reading, pieces: [], isWanted: true };
  wire.on('data', (chunk: Buffer) => reading.receive(chunk, turns));
  return result;
}

/** Turns in which nothing may begin but what waits: as when others have used the time of each turn. */
function busyTurns(): PacedStarts {
  const turns = new PacedStarts();
  jest.spyOn(turns, 'mayBegin').mockReturnValue(false);
  return turns;
}

async function until(isDone: () => boolean): Promise<number> {
  let turns = 0;
  for (; !isDone(); turns += 1) await turn();
  return turns;
}

const LONG = 'a'.repeat(4_096) + 'b'.repeat(4_096) + 'c';

describe('what a socket brings', () => {
  it('is handed on whole and at once while there is time in the turn', async () => {
    for (const turns of [undefined, new PacedStarts()]) {
      const { wire, pieces } = read(turns);
      await wire.send(Buffer.from(LONG));
      expect(pieces).toEqual([LONG]);
    }
  });

  it('waits in a turn that others have used up, and is handed on in pieces and in order', async () => {
    const { wire, reading, pieces } = read(busyTurns());
    await wire.send(Buffer.from(LONG));
    wire.push('d');
    await until(() => pieces.join('').endsWith('d'));
    expect(pieces.map((piece) => [piece[0], piece.length])).toEqual([
      ['a', 4_096],
      ['b', 4_096],
      ['c', 1],
      ['d', 1],
    ]);
    expect(reading.heldBytes).toBe(0);
  });

  it('is not read further while something waits, whoever wants to read on', () => {
    const { wire, reading, pieces } = read(busyTurns());
    wire.emit('data', Buffer.from(LONG));
    reading.resume();
    expect(wire.isPaused()).toBe(true);
    expect(reading.heldBytes).toBe(LONG.length);
    expect(pieces).toEqual([]);
  });

  it('is not read further after that when its owner does not want it, until that one says so', async () => {
    const result = read(busyTurns());
    result.isWanted = false;
    await result.wire.send(Buffer.from('a'));
    await until(() => result.pieces.length === 1);
    expect(result.wire.isPaused()).toBe(true);
    result.reading.resume();
    expect(result.wire.isPaused()).toBe(false);
  });

  it('is forgotten with its connection', async () => {
    const { wire, reading, pieces } = read(busyTurns());
    wire.emit('data', Buffer.from(LONG));
    reading.stop();
    expect(reading.heldBytes).toBe(0);
    for (let turns = 0; turns < 5; turns += 1) await turn();
    expect(pieces).toEqual([]);
  });
});

describe('many sockets that bring something in one turn', () => {
  it('are handed on a few milliseconds at a time, and none waits for all bytes of another', async () => {
    const turns = new PacedStarts();
    const order: number[] = [];
    let inThisTurn = 0;
    let mostInATurn = 0;
    const hold = (): void => {
      const end = performance.now() + 2;
      while (performance.now() < end);
      mostInATurn = Math.max(mostInATurn, ++inThisTurn);
    };
    const sockets = Array.from({ length: 12 }, (_, index) => read(turns, () => (order.push(index), hold())));
    // As one poll of the loop finds them: the last has little.
    sockets.forEach(({ wire }, index) => wire.emit('data', Buffer.from(index === 11 ? 'x' : LONG)));
    while (sockets.some(({ reading }) => reading.heldBytes > 0)) {
      inThisTurn = 0;
      await turn();
    }
    for (const { pieces } of sockets.slice(0, 11)) expect(pieces.join('')).toBe(LONG);
    expect(order.indexOf(11)).toBeLessThan(13);
    expect(mostInATurn).toBeLessThanOrEqual(5);
  });
});
