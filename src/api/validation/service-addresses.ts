import { duplicate, invalid, notSupported, required, type FieldError } from '../errors/field-error';
import type { KubeObject } from '../object';
import type { ServiceSpec } from '../schema/generated/core-v1';
import { validateAddress } from './addresses';
import { invalidLiteral, stringListLiteral } from './go-literal';
import { repetitionsInOrder } from './repetitions';
import { checkEach, checkThen } from './check-each';

/** The addresses of a service inside the cluster: at most one of each family, and the families they are of. */

const FAMILIES = ['IPv4', 'IPv6'] as const;
export type Family = (typeof FAMILIES)[number];
const FAMILY_POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
const MAX_ADDRESSES = 2;
export const NO_ADDRESS = 'None';
const FIELD = 'spec.clusterIPs';

export function specOf(object: KubeObject): ServiceSpec {
  return object['spec'] ?? {};
}

/** A service that clients find by its pods' addresses alone. */
export function isHeadless({ clusterIPs = [] }: ServiceSpec): boolean {
  return clusterIPs.length === 1 && clusterIPs[0] === NO_ADDRESS;
}

export function familyOf(address: string): Family {
  return address.includes(':') ? 'IPv6' : 'IPv4';
}

function listLiteral(list: readonly string[] | undefined): string {
  return stringListLiteral('[]string', list);
}

/** The first of the list is the older single field. */
function validateFirst({ clusterIP = '', clusterIPs = [] }: ServiceSpec): readonly FieldError[] {
  const literal = listLiteral(clusterIPs);
  if (clusterIP === '') {
    return clusterIPs.length === 0 ? [] : [invalidLiteral(FIELD, literal, 'must be empty when clusterIP is empty')];
  }
  if (clusterIPs.length === 0) return [required(FIELD, '')];
  return clusterIPs[0] === clusterIP ? [] : [invalidLiteral(FIELD, literal, 'element [0] must match clusterIP')];
}

function validateFamilies({ ipFamilies = [], ipFamilyPolicy }: ServiceSpec): readonly FieldError[] {
  const isRepeated = repetitionsInOrder();
  const errors = checkEach(ipFamilies, (family, index) => {
    const field = `spec.ipFamilies[${index}]`;
    return [
      ...(FAMILIES.some((one) => one === family) ? [] : [notSupported(field, family, FAMILIES)]),
      ...(isRepeated(family) ? [duplicate(field, family)] : []),
    ];
  });
  return ipFamilyPolicy === undefined || FAMILY_POLICIES.includes(ipFamilyPolicy)
    ? errors
    : [...errors, notSupported('spec.ipFamilyPolicy', ipFamilyPolicy, FAMILY_POLICIES)];
}

function validateEach(clusterIPs: readonly string[]): readonly FieldError[] {
  return checkEach(clusterIPs, (address, index) => {
    if (index > 0 || address !== NO_ADDRESS) return validateAddress(address, `${FIELD}[${index}]`);
    return clusterIPs.length > 1
      ? [invalidLiteral(FIELD, listLiteral(clusterIPs), "'None' must be the first and only value")]
      : [];
  });
}

/** Sound addresses, held against each other and against the families. */
function validateTogether(spec: ServiceSpec): readonly FieldError[] {
  const { clusterIPs = [], ipFamilies = [] } = spec;
  const isAmbiguous = new Set(clusterIPs.map(familyOf)).size < clusterIPs.length;
  const detail = 'may specify no more than one IP for each IP family';
  return [
    ...(isAmbiguous ? [invalidLiteral(FIELD, listLiteral(clusterIPs), detail)] : []),
    ...(isHeadless(spec) ? [] : clusterIPs).flatMap((address, index) => {
      const wanted = ipFamilies[index];
      return wanted === undefined || wanted === familyOf(address)
        ? []
        : [
            invalid(
              `${FIELD}[${index}]`,
              address,
              `expected an ${wanted} value as indicated by \`ipFamilies[${index}]\``,
            ),
          ];
    }),
  ];
}

/** Services that are names only have none of this, which is checked with their type. */
export function validateClusterIps(spec: ServiceSpec): readonly FieldError[] {
  if (spec.type === 'ExternalName') return [];
  const { clusterIPs = [] } = spec;
  return [
    ...validateFirst(spec),
    ...validateFamilies(spec),
    ...checkThen(
      () => validateEach(clusterIPs),
      (unsound) => [
        ...unsound,
        ...(clusterIPs.length > MAX_ADDRESSES
          ? [invalidLiteral(FIELD, listLiteral(clusterIPs), 'may only hold up to 2 values')]
          : []),
        ...(unsound.length > 0 ? [] : validateTogether(spec)),
      ],
    ),
  ];
}

function isName({ type }: ServiceSpec): boolean {
  return type === 'ExternalName';
}

/** Giving the second one up has to be said: a client that knows of one only would lose it unawares. */
function releaseProblem({ ipFamilyPolicy }: ServiceSpec, what: string): readonly FieldError[] {
  const detail = `must be set to 'SingleStack' when releasing the secondary ${what}`;
  return ipFamilyPolicy === 'SingleStack' ? [] : [invalid('spec.ipFamilyPolicy', ipFamilyPolicy ?? 'null', detail)];
}

/** The first address stays as long as the service has one; a second one may come and go. */
export function validateClusterIpsUpdate(spec: ServiceSpec, oldSpec: ServiceSpec): readonly FieldError[] {
  if (isName(spec) || isName(oldSpec)) return [];
  if (isHeadless(spec) && isHeadless(oldSpec)) return [];
  const { clusterIPs: addresses = [] } = spec;
  const { clusterIPs: before = [] } = oldSpec;
  const literal = listLiteral(addresses);
  const changed = (index: number): FieldError =>
    invalidLiteral(`${FIELD}[${index}]`, literal, 'may not change once set');
  if (addresses.length === before.length) {
    return before.flatMap((address, index) => (address === addresses[index] ? [] : [changed(index)]));
  }
  const errors = before.length > 0 && addresses.length > 0 && before[0] !== addresses[0] ? [changed(0)] : [];
  if (addresses.length > before.length) return errors;
  if (addresses.length === 0) return [invalidLiteral(`${FIELD}[0]`, literal, 'primary clusterIP can not be unset')];
  return addresses.length === 1 ? [...errors, ...releaseProblem(spec, 'clusterIP')] : errors;
}

/**
 * The first family stays, too; headless services may change theirs. Who leaves the families out while naming the
 * addresses keeps them.
 */
export function validateFamiliesUpdate(spec: ServiceSpec, oldSpec: ServiceSpec): readonly FieldError[] {
  if (isName(spec) || isName(oldSpec) || isHeadless(spec) || isHeadless(oldSpec)) return [];
  const { ipFamilies: families = [], clusterIPs } = spec;
  const { ipFamilies: before = [] } = oldSpec;
  const literal = stringListLiteral('[]core.IPFamily', families);
  const problem = (text: string, detail: string): FieldError => invalidLiteral('spec.ipFamilies[0]', text, detail);
  const detail = 'may not change once set';
  if (families.length === before.length) {
    return before.flatMap((family, index) => (family === families[index] ? [] : [problem(literal, detail)]));
  }
  const isOther = before.length > 0 && families.length > 0 && before[0] !== families[0];
  // kube-apiserver shows the addresses here, not the families.
  const errors = isOther ? [problem(listLiteral(clusterIPs), detail)] : [];
  if (families.length > before.length) return errors;
  return [
    ...((clusterIPs ?? []).length === 0 ? [problem(literal, 'primary ipFamily can not be unset')] : []),
    ...errors,
    ...(families.length === 1 ? releaseProblem(spec, 'ipFamily') : []),
  ];
}
