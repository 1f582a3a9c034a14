import type { HttpResponse } from './exchange';

/** Requests under way that came over other servers, which know nothing of our end. */
export class MountedRequests {
  readonly #underWay = new Set<HttpResponse>();
  #whenIdle: (() => void) | undefined;

  add(response: HttpResponse): void {
    this.#underWay.add(response);
    response.on('close', () => {
      this.#underWay.delete(response);
      if (this.#underWay.size === 0) this.#whenIdle?.();
    });
  }

  /** Waits until all are answered; those that are not after `graceMs` are broken off. */
  async end(graceMs: number): Promise<void> {
    if (this.#underWay.size === 0) return;
    const idle = new Promise<void>((resolve) => (this.#whenIdle = resolve));
    const force = setTimeout(() => {
      for (const response of this.#underWay) response.destroy();
    }, graceMs);
    await idle;
    clearTimeout(force);
  }
}
