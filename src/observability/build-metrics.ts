import { Gauge, type Registry } from 'prom-client';

/** kube-apiserver's `kubernetes_build_info`: `version` is what `/version` tells. Alerts compare `git_version` in a cluster. */
export function registerBuildInfo(registry: Registry, version: Readonly<Record<string, string>>): void {
  const labels = {
    major: version['major'] ?? '',
    minor: version['minor'] ?? '',
    git_version: version['gitVersion'] ?? '',
    git_commit: version['gitCommit'] ?? '',
    git_tree_state: version['gitTreeState'] ?? '',
    build_date: version['buildDate'] ?? '',
    go_version: version['goVersion'] ?? '',
    compiler: version['compiler'] ?? '',
    platform: version['platform'] ?? '',
  };
  const gauge = new Gauge({
    name: 'kubernetes_build_info',
    help: 'Always 1; the labels say what was built, and how.',
    labelNames: Object.keys(labels),
    registers: [registry],
    aggregator: 'max',
  });
  gauge.set(labels, 1);
}

/** Which feature gates are on. */
export function registerFeatures(
  registry: Registry,
  features: Iterable<{ readonly name: string; readonly stage: string; readonly isOn: boolean }>,
): void {
  const gauge = new Gauge({
    name: 'kubernetes_feature_enabled',
    help: 'Feature gates: 1 is on, 0 is off.',
    labelNames: ['name', 'stage'],
    registers: [registry],
    aggregator: 'max',
  });
  for (const { name, stage, isOn } of features) gauge.set({ name, stage }, isOn ? 1 : 0);
}
