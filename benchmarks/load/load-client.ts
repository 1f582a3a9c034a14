import { fork } from 'node:child_process';
import { join } from 'node:path';
import type {
  ClosedLoopJob,
  ClosedLoopResult,
  FanOutJob,
  FanOutResult,
  LoadKinds,
  LoadRequest,
  OnceResult,
  Target,
  WatchJob,
} from './job';

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface Outcome {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** The load process, seen from the harness. */
export class LoadClient {
  private readonly child = fork(join(__dirname, 'worker.ts'), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  private readonly pending = new Map<number, Pending>();
  private lastId = 0;

  constructor() {
    this.child.on('message', ({ id, result, error }: Outcome) => {
      const pending = this.pending.get(id);
      this.pending.delete(id);
      if (error === undefined) pending?.resolve(result);
      else pending?.reject(new Error(error));
    });
    this.child.on('exit', () => {
      for (const { reject } of this.pending.values()) reject(new Error('the load process ended'));
    });
  }

  run(job: ClosedLoopJob): Promise<ClosedLoopResult> {
    return this.order('closedLoop', job) as Promise<ClosedLoopResult>;
  }

  fanOut(job: FanOutJob): Promise<FanOutResult> {
    return this.order('fanOut', job) as Promise<FanOutResult>;
  }

  async openIdleWatches(job: WatchJob): Promise<void> {
    await this.order('openIdleWatches', job);
  }

  async closeIdleWatches(): Promise<void> {
    await this.order('closeIdleWatches', {});
  }

  /** One request with its response, the body as bytes. */
  async once(
    target: Target,
    request: LoadRequest,
  ): Promise<{ readonly status: number; readonly head: string; readonly body: Buffer }> {
    const { status, head, body } = (await this.order('once', { target, request })) as OnceResult;
    return { status, head, body: Buffer.from(body, 'base64') };
  }

  close(): void {
    this.child.disconnect();
  }

  private order(kind: keyof LoadKinds, job: object): Promise<unknown> {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      this.child.send({ id, kind, job });
    });
  }
}
