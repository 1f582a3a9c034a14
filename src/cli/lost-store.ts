/**
 * A store that only another process can open again ends the command, as what else the command cannot do without: whoever
 * supervises it starts it anew. There is nothing to end gracefully: nobody can be answered.
 */
export function lostStore(): {
  /** Rejects when the store is lost. */
  readonly lost: Promise<never>;
  readonly onStoreLost: (error: Error) => void;
} {
  let onStoreLost: (error: Error) => void = () => undefined;
  const lost = new Promise<never>((_, reject) => (onStoreLost = reject));
  // It may be lost before anybody waits.
  lost.catch(() => undefined);
  return { lost, onStoreLost };
}
