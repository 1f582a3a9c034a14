import { isIP } from 'node:net';
import { invalid, required, type FieldError } from '../../errors/field-error';
import { checkEach } from '../check-each';
import type { HostAlias, PodDNSConfig } from '../../schema/generated/core-v1';
import { invalidLiteral, stringListLiteral } from '../go-literal';
import { byteLength } from '../syntax-error';
import { validateDnsSubdomain } from './field-rules';

/** How names are looked up in a pod: resolver configuration and its hosts file. */

const MAX_NAMESERVERS = 3;
const MAX_SEARCH_PATHS = 6;
const MAX_SEARCH_LIST_BYTES = 256;
const NO_POLICY = 'None';

function validateAddress(address: string, field: string): readonly FieldError[] {
  return isIP(address) === 0 || address.includes('%') ? [invalid(field, address, 'must be valid IP address')] : [];
}

function listProblem(field: string, list: readonly string[], detail: string): FieldError {
  return invalidLiteral(field, stringListLiteral('[]string', list), detail);
}

function validateSearches(searches: readonly string[], field: string): readonly FieldError[] {
  const tooLong = byteLength(searches.join(' ')) > MAX_SEARCH_LIST_BYTES;
  const lengthDetail = `must not have more than ${MAX_SEARCH_LIST_BYTES} characters (including spaces) in the search list`;
  return [
    ...(searches.length > MAX_SEARCH_PATHS
      ? [listProblem(field, searches, `must not have more than ${MAX_SEARCH_PATHS} search paths`)]
      : []),
    ...(tooLong ? [listProblem(field, searches, lengthDetail)] : []),
    ...checkEach(searches, (search, index) => validateDnsSubdomain(search.replace(/\.$/, ''), `${field}[${index}]`)),
  ];
}

/** A policy of None leaves all to the configuration. */
export function validateDnsConfig(
  config: PodDNSConfig | undefined,
  policy: string | undefined,
  path: string,
): readonly FieldError[] {
  const { nameservers = [], searches = [], options = [] } = config ?? {};
  if (policy === NO_POLICY && config === undefined) {
    return [required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')];
  }
  const field = `${path}.nameservers`;
  if (policy === NO_POLICY && nameservers.length === 0) {
    return [required(field, 'must provide at least one DNS nameserver when `dnsPolicy` is None')];
  }
  return [
    ...(nameservers.length > MAX_NAMESERVERS
      ? [listProblem(field, nameservers, `must not have more than ${MAX_NAMESERVERS} nameservers`)]
      : []),
    ...checkEach(nameservers, (address, index) => validateAddress(address, `${field}[${index}]`)),
    ...validateSearches(searches, `${path}.searches`),
    ...checkEach(options, ({ name }, index) =>
      name === undefined || name === '' ? [required(`${path}.options[${index}]`, 'must not be empty')] : [],
    ),
  ];
}

/** Entries of the hosts file. The wire does not say which one. */
export function validateHostAliases(aliases: readonly HostAlias[] | undefined, path: string): readonly FieldError[] {
  return checkEach(aliases, ({ ip = '', hostnames }) => [
    ...validateAddress(ip, `${path}.ip`),
    ...checkEach(hostnames, (name) => validateDnsSubdomain(name, `${path}.hostnames`)),
  ]);
}
