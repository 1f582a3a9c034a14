/** A release of the Kubernetes API. */
export interface KubernetesRelease {
  readonly major: string;
  readonly minor: string;
}

/** The newest release whose stable API is served whole (docs/compatibility.md, "The release"). */
export const DEFAULT_RELEASE: KubernetesRelease = { major: '1', minor: '32' };
