import { invalid, type FieldError } from '../../api/errors/field-error';
import type { ServiceSpec } from '../../api/schema/generated/core-v1';
import { invalidLiteral, stringListLiteral } from '../../api/validation/go-literal';
import { familyOf, isHeadless, NO_ADDRESS, type Family } from '../../api/validation/service-addresses';
import { deepEqual } from '../../api/kinds/deep-equal';

/** The families of a service that has addresses or stands for pods that have; what it does not name is decided here. */

/** Those of the ranges that the cluster gives to services: one or two, the primary one first. */
export type ClusterFamilies = readonly [Family] | readonly [Family, Family];

export interface FamilyChoice {
  /** What the service gets; without fields, it stays as it is. */
  readonly fields: Pick<ServiceSpec, 'ipFamilies' | 'ipFamilyPolicy'>;
  /** Why the families cannot be had; the fields mean nothing then. */
  readonly errors: readonly FieldError[];
}

const UNCHANGED: FamilyChoice = { fields: {}, errors: [] };

function otherFamily(family: string): Family {
  return family === 'IPv4' ? 'IPv6' : 'IPv4';
}

/** The request may name the families of addresses that are listed already. */
function isSelectorless(spec: ServiceSpec): boolean {
  return isHeadless(spec) && Object.keys(spec.selector ?? {}).length === 0;
}

function namesFamilies({ ipFamilies = [], ipFamilyPolicy, clusterIPs = [] }: ServiceSpec): boolean {
  return ipFamilies.length > 0 || ipFamilyPolicy !== undefined || clusterIPs.length > 1;
}

/** The policy of a service that was stored without one, by servers that knew of one family only. */
function policyOfStored(spec: ServiceSpec): string | undefined {
  if (spec.ipFamilyPolicy !== undefined || spec.type === 'ExternalName') return spec.ipFamilyPolicy;
  if (isHeadless(spec)) return isSelectorless(spec) ? 'PreferDualStack' : 'SingleStack';
  return (spec.clusterIPs ?? []).length > 1 ? 'RequireDualStack' : 'SingleStack';
}

/** Preferring two families, a service keeps what it got when the cluster gains or loses its second one. */
function isSettledPreference(spec: ServiceSpec, oldSpec: ServiceSpec): boolean {
  return (
    spec.type === oldSpec.type &&
    spec.ipFamilyPolicy === 'PreferDualStack' &&
    oldSpec.ipFamilyPolicy === 'PreferDualStack' &&
    deepEqual(spec.clusterIPs ?? [], oldSpec.clusterIPs ?? []) &&
    deepEqual(spec.ipFamilies ?? [], oldSpec.ipFamilies ?? [])
  );
}

function tooMany(policy: string, { clusterIPs = [], ipFamilies = [] }: ServiceSpec): readonly FieldError[] {
  if (policy !== 'SingleStack') return [];
  const problem = (what: string) =>
    invalid(
      'spec.ipFamilyPolicy',
      policy,
      `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`,
    );
  return [
    ...(clusterIPs.length === 2 ? [problem('cluster IPs')] : []),
    ...(ipFamilies.length === 2 ? [problem('IP families')] : []),
  ];
}

/** The named families, and those of the addresses that come without. */
function familiesOfAddresses(
  { clusterIPs = [], ipFamilies = [] }: ServiceSpec,
  families: ClusterFamilies,
): { readonly chosen: readonly string[]; readonly errors: readonly FieldError[] } {
  const given = clusterIPs[0] === NO_ADDRESS ? [] : clusterIPs.map(familyOf);
  const errors = given.flatMap((family, index) =>
    index < ipFamilies.length || families.includes(family)
      ? []
      : [
          invalidLiteral(
            `spec.clusterIPs[${index}]`,
            stringListLiteral('[]string', clusterIPs),
            `${family} is not configured on this cluster`,
          ),
        ],
  );
  return { chosen: [...ipFamilies, ...given.slice(ipFamilies.length)], errors };
}

function notConfigured(policy: string, chosen: readonly string[], families: ClusterFamilies): readonly FieldError[] {
  return [
    ...(policy === 'RequireDualStack' && families.length < 2
      ? [invalid('spec.ipFamilyPolicy', policy, 'this cluster is not configured for dual-stack services')]
      : []),
    ...chosen.flatMap((family, index) =>
      families.some((one) => one === family)
        ? []
        : [invalid(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster')],
    ),
  ];
}

/**
 * The families of a service that is sound in itself (kube-apiserver's rules for IPv6DualStack). In a cluster of one
 * family they are shown to those who name them; who does not has never seen them.
 */
export function chooseFamilies(
  spec: ServiceSpec,
  oldSpec: ServiceSpec | undefined,
  families: ClusterFamilies,
): FamilyChoice {
  if (spec.type === 'ExternalName') return UNCHANGED;
  const isNamed = namesFamilies(spec) || (oldSpec !== undefined && namesFamilies(oldSpec));
  if (families.length === 1 && !isNamed) return UNCHANGED;
  if (oldSpec !== undefined && isSettledPreference(spec, oldSpec)) return UNCHANGED;
  const isFree = isSelectorless(spec);
  const ipFamilyPolicy =
    spec.ipFamilyPolicy ?? (oldSpec && policyOfStored(oldSpec)) ?? (isFree ? 'RequireDualStack' : 'SingleStack');
  const { chosen, errors: unknown } = familiesOfAddresses(spec, families);
  const errors = [...tooMany(ipFamilyPolicy, spec), ...unknown];
  const refused = errors.length > 0 || isFree ? errors : notConfigured(ipFamilyPolicy, chosen, families);
  const [first = families[0], ...rest] = chosen;
  const wantsSecond = rest.length === 0 && ipFamilyPolicy !== 'SingleStack' && (isFree || families.length === 2);
  const ipFamilies = wantsSecond ? [first, otherFamily(first)] : [first, ...rest];
  return { fields: { ipFamilies, ipFamilyPolicy }, errors: refused };
}
