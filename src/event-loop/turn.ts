import { beginWork, type Work } from './loop-work';

/** How long one piece of work may keep the others waiting. */
const TURN_MS = 5;

/** Works that wait for their next turn. */
const waiting: (() => void)[] = [];

/**
 * The turn of work that takes long, such as encoding 100,000 objects for one list: looks at the clock now and then, and
 * gives way to what has come meanwhile. However many such works there are, only one of them has a turn between two looks
 * at the sockets, so that short requests wait for one turn and not for one of each.
 */
export class Turn {
  private began = performance.now();

  /** `work`: whose turn it is, for the log, when the loop is held. */
  constructor(private readonly work: Work | string = 'work in turns') {}

  get isOver(): boolean {
    return performance.now() - this.began >= TURN_MS;
  }

  /** Resolves when it is this work's turn again. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      const first = waiting.length === 0;
      waiting.push(() => {
        this.restart();
        beginWork(this.work, this.began);
        resolve();
      });
      if (first) setImmediate(beginNext);
    });
  }

  /** The work has waited for something else meanwhile. */
  restart(): void {
    this.began = performance.now();
  }
}

/** Takes steps until one says that it was the last, giving way to others in between. */
export async function inTurns(step: () => boolean, turn = new Turn()): Promise<void> {
  while (!step()) if (turn.isOver) await turn.next();
}

function beginNext(): void {
  waiting.shift()?.();
  // Those that are set within this phase of the event loop run after the next one has looked at the sockets.
  if (waiting.length > 0) setImmediate(beginNext);
}
