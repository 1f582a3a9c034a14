import { timerMs } from '../../api/time/timer-limit';
import type { EtcdClient } from './client';
import { EtcdError } from './etcd-error';
import * as messages from './messages';
import type { Revision } from '../store';

/** Where kube-apiserver's replicas agree on who compacts; the key has no prefix. */
const COMPACT_KEY = Buffer.from('compact_rev_key');

/** What a round leaves to the next one. */
export interface CompactionRound {
  /** The version of the key as of this round. */
  readonly version: number;
  /** The newest revision as of this round; 0 before the first one. */
  readonly revision: Revision;
}

export const FIRST_ROUND: CompactionRound = { version: 0, revision: 0 as Revision };

/**
 * One round of kube-apiserver's protocol. Every replica remembers the revision it saw a round ago. Who finds the key at the
 * version it knows raises it, and thereby wins the round: it compacts the revision it remembers. The others learn the new
 * version and begin anew. So history is kept for one to two intervals, whatever the number of replicas.
 */
export async function compactRound(client: EtcdClient, last: CompactionRound): Promise<CompactionRound> {
  const outcome = await client.call(
    messages.txn,
    {
      key: COMPACT_KEY,
      expected: { version: last.version },
      success: { put: { key: COMPACT_KEY, value: Buffer.from(String(last.revision)) } },
      failure: { key: COMPACT_KEY },
    },
    { isRepeatable: false },
  );
  const { revision } = outcome;
  if (!outcome.succeeded) return { version: outcome.pairs[0]?.version ?? FIRST_ROUND.version, revision };
  if (last.revision > 0) await compact(client, last.revision, undefined);
  return { version: last.version + 1, revision };
}

/** Forgets history before a revision; does nothing when that has happened already. */
export async function compact(client: EtcdClient, revision: Revision, signal: AbortSignal | undefined): Promise<void> {
  try {
    await client.call(messages.compact, { revision }, { isRepeatable: true, signal });
  } catch (error) {
    if (!(error instanceof EtcdError && error.problem === 'compacted')) throw error;
  }
}

export interface CompactorOptions {
  readonly intervalMs: number;
  /** Told of a round that failed; the next one comes all the same. */
  readonly onError: (error: unknown) => void;
}

/** Plays a round every interval until it is stopped. */
export class Compactor {
  readonly #timer: NodeJS.Timeout;
  #last = FIRST_ROUND;
  #running: Promise<void> | undefined;

  constructor(
    private readonly client: EtcdClient,
    private readonly options: CompactorOptions,
  ) {
    this.#timer = setInterval(() => this.#run(), timerMs(options.intervalMs));
    this.#timer.unref();
    this.#run();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  #run(): void {
    this.#running ??= compactRound(this.client, this.#last)
      .then((round) => {
        this.#last = round;
      })
      .catch((error: unknown) => this.options.onError(error))
      .finally(() => {
        this.#running = undefined;
      });
  }
}
