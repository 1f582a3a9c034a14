import type { VersionInput } from '../define-kind';

/** The versions of the group's kinds, which have come the same way. */
export function flowControlVersions(kind: string): readonly VersionInput[] {
  return [
    { version: 'v1beta1', lifecycle: { deprecated: '1.23', removed: '1.26' } },
    {
      version: 'v1alpha1',
      lifecycle: {
        deprecated: '1.20',
        removed: '1.21',
        replacement: `flowcontrol.apiserver.k8s.io/v1beta1 ${kind}`,
      },
    },
  ];
}
