import { Session, type Profiler } from 'node:inspector';
import { pathToFileURL } from 'node:url';

/**
 * Counts steps instead of measuring time: how often each block of our own sources ran, as V8's coverage knows it, and how many
 * values the platform's own functions went over. The same input takes the same number on every machine.
 */
export class StepCounter {
  private readonly session = new Session();
  private touched = 0;

  private readonly sources: string;

  /** `folder`: what is counted is in it. */
  constructor(folder: string) {
    this.sources = `${pathToFileURL(folder).href}/`;
    this.session.connect();
    this.post('Profiler.enable');
    this.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    this.watchPlatform();
  }

  /** The steps that `run` takes. */
  count(run: () => void): number {
    this.begin();
    run();
    return this.end();
  }

  /** The steps that are taken until `run` has ended, whoever takes them. */
  async countUntil(run: () => Promise<void>): Promise<number> {
    this.begin();
    await run();
    return this.end();
  }

  private begin(): void {
    this.post('Profiler.takePreciseCoverage');
    this.touched = 0;
  }

  private end(): number {
    const { touched } = this;
    const { result } = this.post('Profiler.takePreciseCoverage') as Profiler.TakePreciseCoverageReturnType;
    let steps = touched;
    for (const { url, functions } of result) {
      if (!url.startsWith(this.sources)) continue;
      for (const { ranges } of functions) for (const { count } of ranges) steps += count;
    }
    return steps;
  }

  close(): void {
    this.session.disconnect();
  }

  private post(method: string, parameters?: object): unknown {
    let response: unknown;
    // With its own session the inspector answers before it returns.
    this.session.post(method, parameters, (error, result) => {
      if (error) throw error;
      response = result;
    });
    return response;
  }

  /** Replaces functions that loop where coverage does not look by ones that say how far they went. */
  private watchPlatform(): void {
    const list = Array.prototype as unknown as Record<string, unknown>;
    const lengthOf = (value: unknown): number => (value as { length?: number } | undefined)?.length ?? 0;
    const own = (_result: unknown, self: unknown): number => lengthOf(self);
    for (const name of ['concat', 'flat', 'reverse', 'toReversed', 'with', 'join', 'unshift', 'shift', 'fill']) {
      this.watch(list, name, own);
    }
    for (const name of ['includes', 'lastIndexOf', 'slice']) this.watch(list, name, own);
    this.watch(list, 'indexOf', (result, self) => ((result as number) < 0 ? lengthOf(self) : (result as number)));
    this.watch(list, 'splice', (_result, self, [start]) => Math.max(0, lengthOf(self) - Number(start)));
    for (const name of ['sort', 'toSorted']) {
      this.watch(list, name, (_result, self) => lengthOf(self) * Math.ceil(Math.log2(lengthOf(self) + 1)));
    }
    const objects = Object as unknown as Record<string, unknown>;
    for (const name of ['keys', 'values', 'entries']) this.watch(objects, name, (result) => lengthOf(result));
    this.watch(objects, 'fromEntries', (result) => Object.getOwnPropertyNames(result).length);
    const json = JSON as unknown as Record<string, unknown>;
    this.watch(json, 'parse', (_result, _self, [text]) => lengthOf(text));
    this.watch(json, 'stringify', (result) => lengthOf(result));
    const text = String.prototype as unknown as Record<string, unknown>;
    for (const name of ['replace', 'replaceAll', 'split', 'toLowerCase', 'repeat', 'includes']) {
      this.watch(text, name, own);
    }
    this.watch(text, 'indexOf', (result, self, [, start]) => {
      return ((result as number) < 0 ? lengthOf(self) : (result as number)) - Number(start ?? 0);
    });
    // Not `exec`: with another one the platform splits and replaces in its slow way, character by character.
    const pattern = RegExp.prototype as unknown as Record<string, unknown>;
    this.watch(pattern, 'test', (_result, _self, [subject]) => lengthOf(subject));
    this.watchCopies();
  }

  private watchCopies(): void {
    const add = (copied: unknown): void => {
      const { size, length } = (copied ?? {}) as { size?: number; length?: number };
      this.touched += size ?? length ?? 0;
    };
    globalThis.Map = class<K, V> extends Map<K, V> {
      constructor(entries?: Iterable<readonly [K, V]> | null) {
        super(entries);
        add(entries);
      }
    };
    globalThis.Set = class<T> extends Set<T> {
      constructor(values?: Iterable<T> | null) {
        super(values);
        add(values);
      }
    };
  }

  private watch(
    holder: Record<string, unknown>,
    name: string,
    sizeOf: (result: unknown, self: unknown, given: readonly unknown[]) => number,
  ): void {
    const original = holder[name] as (...given: readonly unknown[]) => unknown;
    const note = (size: number): void => {
      this.touched += size;
    };
    Object.defineProperty(holder, name, {
      configurable: true,
      writable: true,
      value: function watched(this: unknown, ...given: readonly unknown[]): unknown {
        const result = original.apply(this, given as unknown[]);
        note(sizeOf(result, this, given));
        return result;
      },
    });
  }
}
