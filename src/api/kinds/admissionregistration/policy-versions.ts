import type { VersionInput } from '../define-kind';

/** Both versions have one shape. The older one is served when `--runtime-config` asks for it. */
export function policyVersions(kind: string): readonly (string | VersionInput)[] {
  return [
    'v1',
    {
      version: 'v1beta1',
      lifecycle: { deprecated: '1.31', removed: '1.34', replacement: `admissionregistration.k8s.io/v1 ${kind}` },
    },
  ];
}
