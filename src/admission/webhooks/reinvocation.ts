import type { KubeObject } from '../../api/object';

/**
 * What one write's mutating step knows of its rounds (spec, "Webhook configuration kinds": reinvocationPolicy). When a webhook has
 * changed the object, all plugins have a second turn, and of the webhooks those that ask for it and were called before the change.
 */
export class Reinvocation {
  /** 0, then 1. */
  round = 0;
  /** Some webhook has changed the object. */
  isWanted = false;
  /** What the webhooks of the first round have made. */
  output: KubeObject | undefined;
  #calledBefore: Set<string> | undefined;
  #calledAgain: Set<string> | undefined;

  /** The object has changed: a webhook that has seen it before, and wants to, sees it again. */
  changed(): void {
    for (const key of this.#calledBefore ?? []) (this.#calledAgain ??= new Set()).add(key);
    this.#calledBefore = undefined;
  }

  /** A webhook that wants to be called again has been called. */
  called(key: string): void {
    (this.#calledBefore ??= new Set()).add(key);
  }

  isCalledAgain(key: string): boolean {
    return this.#calledAgain?.has(key) === true;
  }
}
