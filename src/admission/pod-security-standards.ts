import type { KubeObject } from '../api/object';
import { BASELINE_CHECKS } from './pod-security-baseline';
import type { SecurityCheck } from './pod-security-pod';
import { RESTRICTED_CHECKS } from './pod-security-restricted';

export const LEVELS = ['privileged', 'baseline', 'restricted'] as const;
export type Level = (typeof LEVELS)[number];

/** What the pod has that the level does not allow: `privileged (container "c" must not ...)`, one text for each check. */
export function violationsOf(pod: KubeObject, level: Level): readonly string[] {
  return checksOf(level).flatMap(({ reason, detail }) => {
    const found = detail(pod);
    return found === undefined ? [] : [`${reason} (${found})`];
  });
}

function checksOf(level: Level): readonly SecurityCheck[] {
  switch (level) {
    case 'privileged':
      return [];
    case 'baseline':
      return BASELINE_CHECKS;
    case 'restricted': {
      const sharpened = new Set(RESTRICTED_CHECKS.map(({ replaces }) => replaces));
      return [...BASELINE_CHECKS.filter(({ id }) => !sharpened.has(id)), ...RESTRICTED_CHECKS];
    }
  }
}
