import { beginWork, type Work } from './loop-work';
import { TurnQueue } from './turn-queue';

/** How long one piece of work may keep the others waiting. */
const TURN_MS = 5;

/** Works that wait for their next turn, by their owners. */
const waiting = new TurnQueue();

/** Of what the server does by itself. */
const SERVER = Symbol('server');

/** With whom the work takes turns as one. */
function ownerOf(work: Work | string): unknown {
  return typeof work === 'string' ? SERVER : work.workOwner;
}

/** Works that have a turn of their own once they have begun. */
const beginnings = new TurnQueue({ stretchMs: 4 });

/**
 * For works that hundreds may begin at once, because all of them waited for one event: undefined for the first, else
 * resolves when this one may, of which as many do in a turn of the loop as have time.
 */
export function turnToBegin(work: Work | string): Promise<void> | undefined {
  return beginnings.turnWhereCrowded(ownerOf(work));
}

/**
 * The turn of work that takes long, such as encoding 100,000 objects for one list: looks at the clock now and then, and
 * gives way to what has come meanwhile. However many such works there are, only one of them has a turn between two looks
 * at the sockets, so that short requests wait for one turn and not for one of each. The works of a user take turns with
 * each other, and as one with those of other users: who begins many delays himself.
 */
export class Turn {
  private began = performance.now();

  /** `work`: whose turn it is, also for the log, when the loop is held. */
  constructor(private readonly work: Work | string = 'work in turns') {}

  get isOver(): boolean {
    return performance.now() - this.began >= TURN_MS;
  }

  /** Resolves when it is this work's turn again. */
  async next(): Promise<void> {
    const { work } = this;
    await waiting.turn(ownerOf(work));
    this.restart();
    beginWork(work, this.began);
  }

  /** The work has waited for something else meanwhile. */
  restart(): void {
    this.began = performance.now();
  }
}

/** Takes steps until one says that it was the last, giving way to others in between. */
export async function inTurns(step: () => boolean, turn: Turn): Promise<void> {
  while (!step()) if (turn.isOver) await turn.next();
}

/** As {@link inTurns}; undefined when one turn was enough. */
export function inTurnsIfLong(step: () => boolean, turn: Turn): Promise<void> | undefined {
  while (!step()) if (turn.isOver) return turn.next().then(() => inTurns(step, turn));
  return undefined;
}
