import { isNativeResource } from '../api/quota/pod-resources';
import { podSpec, withSpec, type Container, type Toleration } from './pod';
import type { AdmissionPlugin } from './plugin';

function extendedResources({ resources }: Container): readonly string[] {
  return Object.keys(resources?.requests ?? {}).filter(
    (name) => !isNativeResource(name) && !name.startsWith('requests.'),
  );
}

/** ExtendedResourceToleration: pods that ask for a special device may run on the nodes that are kept for such pods. */
export const extendedResourceToleration: AdmissionPlugin = {
  name: 'ExtendedResourceToleration',
  operations: ['CREATE', 'UPDATE'],
  resources: ['pods'],
  mutate: async ({ object }) => {
    const { containers, initContainers, tolerations = [] } = podSpec(object);
    const wanted = [...new Set([...(containers ?? []), ...(initContainers ?? [])].flatMap(extendedResources))].sort();
    const isThere = (resource: string): boolean =>
      tolerations.some(
        ({ key, operator, effect, value = '' }: Toleration) =>
          key === resource && operator === 'Exists' && effect === 'NoSchedule' && value === '',
      );
    const missing = wanted.filter((resource) => !isThere(resource));
    if (missing.length === 0) return object;
    return withSpec(object, {
      tolerations: [...tolerations, ...missing.map((key) => ({ key, operator: 'Exists', effect: 'NoSchedule' }))],
    });
  },
};
