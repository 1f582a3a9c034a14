type Labels = Readonly<Record<string, string>>;

const RESTRICTED_DOMAIN = 'node-restriction.kubernetes.io';
const RESERVED_DOMAINS = ['kubernetes.io', 'k8s.io'];
const KUBELET_DOMAINS = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
const KUBELET_LABELS = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
]);

function isIn(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`);
}

function isForbidden(label: string): boolean {
  const slash = label.indexOf('/');
  if (slash < 0) return false;
  const domain = label.slice(0, slash);
  if (isIn(domain, RESTRICTED_DOMAIN)) return true;
  const reserved = RESERVED_DOMAINS.some((parent) => isIn(domain, parent));
  return reserved && !KUBELET_LABELS.has(label) && !KUBELET_DOMAINS.some((parent) => isIn(domain, parent));
}

/** Labels that a kubelet has added, changed or removed and may not: they steer pods. Sorted. */
export function forbiddenLabelChanges(labels: Labels = {}, old: Labels = {}): readonly string[] {
  return [...new Set([...Object.keys(labels), ...Object.keys(old)])]
    .filter((label) => labels[label] !== old[label] && isForbidden(label))
    .sort();
}
