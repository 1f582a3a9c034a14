import { refuse, type AdmissionPlugin } from './plugin';

interface AntiAffinity {
  readonly affinity?: {
    readonly podAntiAffinity?: {
      readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly { readonly topologyKey?: string }[];
    };
  };
}

const HOSTNAME = 'kubernetes.io/hostname';

/** LimitPodHardAntiAffinityTopology: a pod keeps others off its node at most, not off a whole zone. */
export const limitPodHardAntiAffinityTopology: AdmissionPlugin = {
  name: 'LimitPodHardAntiAffinityTopology',
  operations: ['CREATE', 'UPDATE'],
  resources: ['pods'],
  validate: async (attributes) => {
    const { affinity } = (attributes.object?.spec ?? {}) as AntiAffinity;
    for (const { topologyKey = '' } of affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ??
      []) {
      if (topologyKey === HOSTNAME) continue;
      throw refuse(
        attributes,
        `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${topologyKey} ` +
          `but only key ${HOSTNAME} is allowed`,
      );
    }
  },
};
