import { extend } from '../api/extend';
import type { AdmissionPlugin } from './plugin';

interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

const NOT_READY = 'node.kubernetes.io/not-ready';
const UNREACHABLE = 'node.kubernetes.io/unreachable';

function tolerates({ key = '', effect = '' }: Toleration, taint: string): boolean {
  return (key === taint || key === '') && (effect === 'NoExecute' || effect === '');
}

/**
 * DefaultTolerationSeconds: a pod without a word on the matter stays this long on a node that is not ready or cannot be
 * reached (five minutes by default).
 */
export function defaultTolerationSeconds(seconds: {
  readonly notReady: number;
  readonly unreachable: number;
}): AdmissionPlugin {
  const wanted: readonly (readonly [string, number])[] = [
    [NOT_READY, seconds.notReady],
    [UNREACHABLE, seconds.unreachable],
  ];
  return {
    name: 'DefaultTolerationSeconds',
    operations: ['CREATE', 'UPDATE'],
    resources: ['pods'],
    mutate: async ({ object }) => {
      const spec = (object.spec ?? {}) as { readonly tolerations?: readonly Toleration[] };
      const tolerations = spec.tolerations ?? [];
      const missing = wanted.filter(([taint]) => !tolerations.some((toleration) => tolerates(toleration, taint)));
      if (missing.length === 0) return object;
      const added = missing.map(([key, tolerationSeconds]) => ({
        key,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds,
      }));
      return { ...object, spec: extend(spec, { tolerations: [...tolerations, ...added] }) };
    },
  };
}
