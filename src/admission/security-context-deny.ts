import { allContainers, podSpec } from './pod';
import { refuse, type AdmissionPlugin } from './plugin';

type SecurityContext = Readonly<Record<string, unknown>>;

/** Field names and how messages spell them. */
const POD_FIELDS = [
  ['supplementalGroups', 'SupplementalGroups'],
  ['seLinuxOptions', 'SELinuxOptions'],
  ['runAsUser', 'RunAsUser'],
  ['fsGroup', 'FSGroup'],
] as const;
const CONTAINER_FIELDS = [
  ['seLinuxOptions', 'SELinuxOptions'],
  ['runAsUser', 'RunAsUser'],
] as const;

function present(context: SecurityContext | undefined, fields: readonly (readonly [string, string])[]) {
  return fields.find(([field]) => context?.[field] != null)?.[1];
}

/** SecurityContextDeny: pods may not choose whom they run as. */
export const securityContextDeny: AdmissionPlugin = {
  name: 'SecurityContextDeny',
  operations: ['CREATE', 'UPDATE'],
  resources: ['pods'],
  validate: async (attributes) => {
    if (attributes.object === undefined) return;
    const spec = podSpec(attributes.object);
    const { securityContext } = spec as { readonly securityContext?: SecurityContext };
    const ofPod = present(securityContext, POD_FIELDS);
    if (ofPod !== undefined) throw refuse(attributes, `pod.Spec.SecurityContext.${ofPod} is forbidden`);
    for (const container of allContainers(spec) as readonly { readonly securityContext?: SecurityContext }[]) {
      const ofContainer = present(container.securityContext, CONTAINER_FIELDS);
      if (ofContainer !== undefined) throw refuse(attributes, `SecurityContext.${ofContainer} is forbidden`);
    }
  },
};
