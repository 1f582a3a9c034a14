import type { AdmissionPlugin } from './plugin';

interface Taint {
  readonly key: string;
  readonly effect: string;
}

const NOT_READY = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

/** TaintNodesByCondition: a new node takes no pods until it is known to be ready. */
export const taintNodesByCondition: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  operations: ['CREATE'],
  resources: ['nodes'],
  mutate: async ({ object }) => {
    const spec = (object.spec ?? {}) as { readonly taints?: readonly Taint[] };
    const taints = spec.taints ?? [];
    if (taints.some(({ key, effect }) => key === NOT_READY.key && effect === NOT_READY.effect)) return object;
    return { ...object, spec: { ...spec, taints: [...taints, NOT_READY] } };
  },
};
