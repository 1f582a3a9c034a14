import { notSupported } from '../api/errors/field-error';
import { mapContainers, podSpec, withSpec, type Container } from './pod';
import { refuse, type AdmissionPlugin } from './plugin';

const ALWAYS = 'Always';

/** AlwaysPullImages: who may not pull an image cannot use it either because it is on the node already. */
export const alwaysPullImages: AdmissionPlugin = {
  name: 'AlwaysPullImages',
  operations: ['CREATE', 'UPDATE'],
  resources: ['pods'],
  mutate: async ({ object }) =>
    withSpec(
      object,
      mapContainers(podSpec(object), (container) => ({ ...container, imagePullPolicy: ALWAYS })),
    ),
  validate: async (attributes) => {
    if (attributes.object === undefined) return;
    const { initContainers, containers } = podSpec(attributes.object);
    const problemOf = (field: string, list: readonly Container[] | null = []) =>
      (list ?? []).flatMap(({ imagePullPolicy = '' }, index) =>
        imagePullPolicy === ALWAYS
          ? []
          : [notSupported(`spec.${field}[${index}].imagePullPolicy`, imagePullPolicy, [ALWAYS])],
      );
    const [problem] = [...problemOf('initContainers', initContainers), ...problemOf('containers', containers)];
    if (problem !== undefined) throw refuse(attributes, `${problem.field}: ${problem.message}`);
  },
};
