import { EventEmitter, getEventListeners } from 'node:events';

type Listen = (this: EventEmitter, name: string | symbol, listener: unknown) => EventEmitter;
type ListenToTarget = (this: EventTarget, ...parameters: unknown[]) => void;

/** Counts the listeners of all emitters and signals that got one since it was made. */
export class ListenerCounts {
  readonly #emitters = new Map<EventEmitter, Set<string | symbol>>();
  readonly #signals = new Set<EventTarget>();
  readonly #restore: () => void;

  constructor() {
    const on = Reflect.get(EventEmitter.prototype, 'on') as Listen;
    const addEventListener = Reflect.get(EventTarget.prototype, 'addEventListener') as ListenToTarget;
    const emitters = this.#emitters;
    const signals = this.#signals;
    const noted: Listen = function (name, listener) {
      const names = emitters.get(this);
      if (names === undefined) emitters.set(this, new Set([name]));
      else names.add(name);
      return on.call(this, name, listener);
    };
    const notedTarget: ListenToTarget = function (...parameters) {
      signals.add(this);
      addEventListener.apply(this, parameters);
    };
    Object.assign(EventEmitter.prototype, { on: noted, addListener: noted });
    Object.assign(EventTarget.prototype, { addEventListener: notedTarget });
    this.#restore = () => {
      Object.assign(EventEmitter.prototype, { on, addListener: on });
      Object.assign(EventTarget.prototype, { addEventListener });
    };
  }

  /** How many listeners the one has that has most, for one event. */
  most(): number {
    let most = 0;
    for (const [emitter, names] of this.#emitters)
      for (const name of names) most = Math.max(most, emitter.listenerCount(name));
    for (const signal of this.#signals) most = Math.max(most, getEventListeners(signal, 'abort').length);
    return most;
  }

  stop(): void {
    this.#restore();
    this.#emitters.clear();
    this.#signals.clear();
  }
}
