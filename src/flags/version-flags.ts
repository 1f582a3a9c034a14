import type { KubernetesRelease } from '../api/kubernetes-release';
import type { FlagTable } from './flag-table';

/** What is announced, with the name that it has on later kube-apiservers. */
export const versionFlags = {
  'emulated-version': {
    type: 'string',
    section: 'Misc',
    help:
      'Release of Kubernetes that /version tells, such as 1.27, for clients and charts that look at it. What is served stays the same. ' +
      'Default: the newest whose stable API is served whole.',
  },
} as const satisfies FlagTable;

/** A component's name may stand before it, as kube-apiserver takes it, and the patch release after it. */
const RELEASE = /^(?:kube=)?v?(1)\.([1-9]\d?)(?:\.\d+)?$/;
/** The releases whose clients know what is served here. */
const OLDEST_MINOR = 16;

export function emulatedRelease(emulatedVersion: string): KubernetesRelease | undefined {
  const [, major, minor] = RELEASE.exec(emulatedVersion) ?? [];
  if (major === undefined || minor === undefined || Number(minor) < OLDEST_MINOR) return undefined;
  return { major, minor };
}

export function versionProblems({ emulatedVersion }: { readonly emulatedVersion: string }): readonly string[] {
  if (emulatedVersion === '' || emulatedRelease(emulatedVersion) !== undefined) return [];
  return [
    `--emulated-version ${JSON.stringify(emulatedVersion)} is no release from 1.${OLDEST_MINOR} on, such as 1.27`,
  ];
}
