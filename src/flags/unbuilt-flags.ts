/**
 * kube-apiserver's flags that ask for protection which Sternpost does not have yet, and what each of them asks for. A server that
 * started all the same would look protected and not be.
 */
export const unbuiltFlags: ReadonlyMap<string, string> = new Map([
  ['egress-selector-config-file', 'connections through a proxy'],
]);
