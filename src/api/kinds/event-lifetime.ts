import type { KindDefinition } from './kind-definition';

/**
 * The kinds, those that vanish by themselves (Events) after `--event-ttl` instead of their own time.
 * Parts of a second do not count; 0 keeps the objects for good.
 */
export function withEventLifetime(kinds: readonly KindDefinition[], lifetimeMs: number): readonly KindDefinition[] {
  const ttlSeconds = Math.floor(lifetimeMs / 1000);
  return kinds.map((kind) => {
    if (kind.ttlSeconds === undefined) return kind;
    const { ttlSeconds: _, ...lasting } = kind;
    return ttlSeconds > 0 ? { ...kind, ttlSeconds } : lasting;
  });
}
