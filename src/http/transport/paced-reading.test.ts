import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { PacedStarts } from '../../async/paced-starts';
import { SharedTurns } from '../../async/shared-turns';
import { Wire } from '../../http2/wire.fixture';
import { MemoryBudget } from '../../memory/memory-budget';
import { Arrivals } from './arrivals';
import { costsOf } from './connection-costs';
import { PacedReading } from './paced-reading';
import { StartsByCost } from './starts-by-cost';

class Connection extends Wire {
  /** How often more was asked for. */
  reads = 0;
  /** What was handed on, a text per piece. */
  readonly pieces: string[] = [];

  constructor(onPiece?: () => void) {
    super();
    this.on('data', (bytes: Buffer) => {
      this.pieces.push(bytes.toString());
      onPiece?.();
    });
  }

  override _read(): void {
    this.reads++;
  }

  get text(): string {
    return this.pieces.join('');
  }
}

interface Read {
  readonly connection: Connection;
  readonly reading: PacedReading;
  readonly memory: MemoryBudget;
}

const newStarts = (): StartsByCost =>
  new StartsByCost({ turns: new SharedTurns(), arrivals: new Arrivals(), ends: new PacedStarts() });

/** A connection that is being read. */
async function read(strangers = newStarts(), clients = newStarts(), onPiece?: () => void): Promise<Read> {
  const connection = new Connection(onPiece);
  const memory = new MemoryBudget(Infinity);
  const account = memory.open(() => connection.destroy());
  const reading = new PacedReading(connection as unknown as Socket, { strangers, clients }, () => account);
  await turn();
  return { connection, reading, memory };
}

/** Turns in which nothing may begin but what waits: as when others have used the time of each turn. */
function busyTurns(): StartsByCost {
  const turns = new PacedStarts();
  jest.spyOn(turns, 'mayBegin').mockReturnValue(false);
  const starts = newStarts();
  jest.spyOn(starts, 'of').mockReturnValue(turns);
  return starts;
}

async function until(isDone: () => boolean): Promise<void> {
  for (let turns = 0; !isDone(); turns++) {
    if (turns > 1_000) throw new Error('it has not come to that');
    await turn();
  }
}

/** Time passes by what tests say that a piece takes, however busy the machine is. */
let nowMs = 1_000;
beforeEach(() => {
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
});
afterEach(() => jest.restoreAllMocks());

function hold(ms: number): void {
  nowMs += ms;
}

const someTurns = async (): Promise<void> => {
  for (let turns = 0; turns < 5; turns++) await turn();
};

/** Pieces double as long as they cost little. */
const LONG = 'a'.repeat(512) + 'b'.repeat(1_024) + 'c';
const PIECES = [
  ['a', 512],
  ['b', 1_024],
  ['c', 1],
];
const shapeOf = ({ pieces }: Connection): unknown[] => pieces.map((piece) => [piece[0], piece.length]);

describe('what a connection brings', () => {
  it('is handed on at once while there is time in the turn', async () => {
    const { connection } = await read();
    expect(connection.push(Buffer.from('a'))).toBe(true);
    expect(connection.text).toBe('a');
  });

  it('is thrown away where nobody listens for it any more, and reading goes on', async () => {
    const { connection } = await read();
    connection.removeAllListeners('data').resume();
    await turn();
    expect([connection.push(Buffer.from('a')), connection.push(Buffer.from('b'))]).toEqual([true, true]);
    expect([connection.text, connection.readableLength]).toEqual(['', 0]);
  });

  it('is handed on in pieces, and what waits is counted', async () => {
    const { connection, memory } = await read();
    expect(connection.push(Buffer.from(LONG))).toBe(false);
    expect(shapeOf(connection)).toEqual(PIECES.slice(0, 1));
    expect(memory.heldBytes).toBe(256 + 1_025);
    await until(() => connection.text === LONG);
    expect(shapeOf(connection)).toEqual(PIECES);
    expect(memory.heldBytes).toBe(0);
  });

  it('is handed on in larger pieces when its client has proved who it is', async () => {
    const largest = async (isTrusted: boolean): Promise<number> => {
      const { connection, reading } = await read();
      if (isTrusted) reading.trust();
      connection.push(Buffer.alloc(100_000));
      await until(() => connection.text.length === 100_000);
      return Math.max(...connection.pieces.map((piece) => piece.length));
    };
    expect([await largest(false), await largest(true)]).toEqual([4_096, 16_384]);
  });

  it('waits in a turn that others have used up, in order, and nothing is read meanwhile', async () => {
    const { connection } = await read(busyTurns());
    const { reads } = connection;
    // As TLS does with several records of one read.
    expect([connection.push(Buffer.from(LONG)), connection.push(Buffer.from('d'))]).toEqual([false, false]);
    expect([connection.pieces, connection.reads]).toEqual([[], reads]);
    await until(() => connection.text === `${LONG}d`);
    expect(shapeOf(connection)).toEqual([...PIECES, ['d', 1]]);
    await until(() => connection.reads > reads);
  });

  it('of a client does not wait for strangers', async () => {
    const { connection, reading } = await read(busyTurns());
    reading.trust();
    connection.push(Buffer.from('a'));
    expect(connection.text).toBe('a');
  });

  it('waits for as long as the connection is paused', async () => {
    const { connection } = await read(busyTurns(), undefined, () => connection.pause());
    connection.pause();
    connection.push(Buffer.from(LONG));
    await someTurns();
    expect([connection.text, connection.readableLength]).toEqual(['', 0]);
    // Each piece pauses it once more, as a request does that is behind others.
    for (const pieces of [1, 2, 3]) {
      connection.resume();
      await someTurns();
      expect(connection.pieces).toHaveLength(pieces);
    }
    expect(connection.text).toBe(LONG);
  });

  it('has its end after all else', async () => {
    const { connection } = await read(busyTurns());
    const ended = jest.fn();
    connection.on('end', ended);
    connection.push(Buffer.from(LONG));
    connection.push(null);
    await until(() => ended.mock.calls.length > 0);
    expect(connection.text).toBe(LONG);
  });

  it('has its end in a later turn where others have used this one up', async () => {
    const { connection } = await read(busyTurns());
    const ended = jest.fn();
    connection.on('end', ended);
    connection.push(null);
    await new Promise((done) => process.nextTick(done));
    expect(ended).not.toHaveBeenCalled();
    await until(() => ended.mock.calls.length > 0);
  });

  it('counts with what each record takes, as thousands may have a byte each', async () => {
    const { connection, memory } = await read(busyTurns());
    for (let record = 0; record < 1_000; record++) connection.push(Buffer.from('a'));
    expect(memory.heldBytes).toBe(257_000);
    await until(() => connection.text.length === 1_000);
    expect(memory.heldBytes).toBe(0);
  });

  it('is forgotten with it', async () => {
    const { connection } = await read(busyTurns());
    connection.push(Buffer.from(LONG));
    connection.destroy();
    await someTurns();
    expect(connection.pieces).toEqual([]);
  });
});

describe('a connection that has cost much lately', () => {
  it('waits for its like, and nobody else does for it', async () => {
    const strangers = newStarts();
    const costly: Connection[] = [];
    for (let index = 0; index < 5; index++) {
      const { connection } = await read(strangers, undefined, () => hold(2));
      costsOf(connection as unknown as Socket).count(1_000, performance.now());
      costly.push(connection);
    }
    const cheap = (await read(strangers)).connection;
    for (const connection of costly) connection.push(Buffer.from('x'));
    cheap.push(Buffer.from('x'));
    expect([costly.at(-1)?.text, cheap.text]).toEqual(['', 'x']);
    await until(() => costly.every(({ text }) => text === 'x'));
  });

  it.each([
    ['that have cost something', 1.5, 600],
    ['that bring much', 0, 3_000],
  ])('comes before those %s', async (_name, costMs, bytes) => {
    const strangers = newStarts();
    const order: string[] = [];
    const others: Connection[] = [];
    for (let index = 0; index < 10; index++) {
      const { connection } = await read(strangers, undefined, () => {
        order.push('other');
        hold(2);
      });
      costsOf(connection as unknown as Socket).count(costMs, performance.now());
      others.push(connection);
    }
    const quiet = (await read(strangers, undefined, () => order.push('quiet'))).connection;
    for (const connection of others) connection.push(Buffer.alloc(bytes));
    // Nothing begins in this turn any more.
    jest.spyOn(PacedStarts.prototype, 'mayBegin').mockReturnValue(false);
    quiet.push(Buffer.from('x'));
    await until(() => quiet.text === 'x' && others.every(({ text }) => text.length === bytes));
    expect(order.indexOf('quiet')).toBeLessThan(6);
  });

  it('is known by what its bytes took', async () => {
    const { connection } = await read(undefined, undefined, () => hold(11));
    connection.push(Buffer.from('x'));
    expect(costsOf(connection as unknown as Socket).levelAt(performance.now())).toBe(2);
  });
});

describe('many connections that bring something in one turn', () => {
  it('are handed on a few milliseconds at a time, and none waits for all bytes of another', async () => {
    const strangers = newStarts();
    const order: number[] = [];
    let inThisTurn = 0;
    let mostInATurn = 0;
    const onPiece = (index: number): void => {
      order.push(index);
      hold(2);
      mostInATurn = Math.max(mostInATurn, ++inThisTurn);
    };
    const all: Connection[] = [];
    for (let index = 0; index < 12; index++) {
      all.push((await read(strangers, undefined, () => onPiece(index))).connection);
    }
    // As one look at the sockets finds them: the last has little.
    all.forEach((connection, index) => connection.push(Buffer.from(index === 11 ? 'x' : LONG)));
    while (all.some(({ text }, index) => text !== (index === 11 ? 'x' : LONG))) {
      inThisTurn = 0;
      await turn();
    }
    expect(order.indexOf(11)).toBeLessThan(17);
    expect(mostInATurn).toBeLessThanOrEqual(5);
  });
});
