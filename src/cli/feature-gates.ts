/** kube-apiserver's feature gates that make a difference here, and what holds when the flag does not name them. */
export const FEATURE_GATES = {
  /** Off: pods get the token from a secret of their service account, as before 1.21. */
  BoundServiceAccountTokenVolume: true,
} as const satisfies Readonly<Record<string, boolean>>;

export type FeatureGate = keyof typeof FEATURE_GATES;
export type FeatureGates = { readonly [Gate in FeatureGate]: boolean };

/** `--feature-gates` read: `Gate=true`. Gates without effect are accepted with a warning; other values are an error. */
export function parseFeatureGates(given: Readonly<Record<string, string>>): {
  readonly gates: FeatureGates;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
} {
  const problems: string[] = [];
  const warnings: string[] = [];
  const gates: { [Gate in FeatureGate]: boolean } = { ...FEATURE_GATES };
  for (const [name, text] of Object.entries(given)) {
    if (text !== 'true' && text !== 'false') {
      problems.push(`invalid value of feature gate ${name}: ${JSON.stringify(text)} is not true or false`);
    } else if (name in gates) {
      gates[name as FeatureGate] = text === 'true';
    } else {
      warnings.push(`feature gate ${name} is accepted but has no effect`);
    }
  }
  return { gates, problems, warnings };
}
