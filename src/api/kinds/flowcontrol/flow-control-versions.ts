import type { VersionInput } from '../define-kind';

type Conversions = Readonly<Record<'v1' | 'v1beta3', NonNullable<VersionInput['convert']>>>;

/**
 * The versions of the group's kinds, which have come the same way. v1beta1 stays the preferred one, as in the release that this server
 * implements; v1beta2 has the same shape.
 */
export function flowControlVersions(kind: string, conversions?: Conversions): readonly VersionInput[] {
  const replacedBy = (version: string): string => `flowcontrol.apiserver.k8s.io/${version} ${kind}`;
  return [
    { version: 'v1beta1', lifecycle: { deprecated: '1.23', removed: '1.26' } },
    { version: 'v1', ...(conversions && { convert: conversions.v1 }) },
    {
      version: 'v1beta3',
      ...(conversions && { convert: conversions.v1beta3 }),
      lifecycle: { deprecated: '1.29', removed: '1.32', replacement: replacedBy('v1') },
    },
    { version: 'v1beta2', lifecycle: { deprecated: '1.26', removed: '1.29', replacement: replacedBy('v1beta3') } },
    { version: 'v1alpha1', lifecycle: { deprecated: '1.20', removed: '1.21', replacement: replacedBy('v1beta1') } },
  ];
}
