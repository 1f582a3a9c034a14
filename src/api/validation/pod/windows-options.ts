import { invalid, type FieldError } from '../../errors/field-error';
import type { WindowsSecurityContextOptions } from '../../schema/generated/core-v1';
import { byteLength } from '../syntax-error';
import { validateDnsSubdomain } from './field-rules';

/** Windows' own rules for names of users, `DOMAIN\\user` (Windows documentation, "Local Accounts"). */
const MAX_SPEC_KIB = 64;
const MAX_DOMAIN_BYTES = 256;
const MAX_USER_BYTES = 104;
// eslint-disable-next-line no-control-regex -- control characters are what it looks for
const controlCharacters = /[\u0000-\u001f\u007f]/;
const netBiosName = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const dnsName = /^[0-9a-zA-Z][0-9a-zA-Z-]*[0-9a-zA-Z](\.[0-9a-zA-Z][0-9a-zA-Z-]*[0-9a-zA-Z])*$/;
const FORBIDDEN_IN_USER = '"/\\:;|=,+*?<>@[]';
const onlyDotsAndSpaces = /^[. ]+$/;

function domainProblems(domain: string): readonly string[] {
  return [
    ...(byteLength(domain) >= MAX_DOMAIN_BYTES
      ? [`runAsUserName's Domain length must be under ${MAX_DOMAIN_BYTES} characters`]
      : []),
    ...(netBiosName.test(domain) || dnsName.test(domain)
      ? []
      : ["runAsUserName's Domain doesn't match the NetBios nor the DNS format"]),
  ];
}

function userProblems(user: string): readonly string[] {
  const problems: string[] = [];
  if (user === '') problems.push("runAsUserName's User cannot be empty");
  else if (byteLength(user) > MAX_USER_BYTES) {
    problems.push(`runAsUserName's User length must not be longer than ${MAX_USER_BYTES} characters`);
  }
  if ([...user].some((character) => FORBIDDEN_IN_USER.includes(character))) {
    problems.push(`runAsUserName's User cannot contain the following characters: ${FORBIDDEN_IN_USER}`);
  }
  if (onlyDotsAndSpaces.test(user)) problems.push("runAsUserName's User cannot contain only periods or spaces");
  return problems;
}

function userNameProblems(name: string): readonly string[] {
  if (name === '') return ['runAsUserName cannot be an empty string'];
  if (controlCharacters.test(name)) return ['runAsUserName cannot contain control characters'];
  const parts = name.split('\\', 3);
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash'];
  const [domain, user] = parts.length === 2 ? parts : [undefined, name];
  return [...(domain === undefined ? [] : domainProblems(domain)), ...userProblems(user ?? '')];
}

function credentialSpecProblems(spec: string): readonly string[] {
  if (spec === '') return ['gmsaCredentialSpec cannot be an empty string'];
  return byteLength(spec) > MAX_SPEC_KIB * 1024 ? [`gmsaCredentialSpec size must be under ${MAX_SPEC_KIB} KiB`] : [];
}

export function validateWindowsOptions(
  options: WindowsSecurityContextOptions | undefined,
  path: string,
): readonly FieldError[] {
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options ?? {};
  return [
    ...(gmsaCredentialSpecName === undefined
      ? []
      : validateDnsSubdomain(gmsaCredentialSpecName, `${path}.gmsaCredentialSpecName`)),
    ...(gmsaCredentialSpec === undefined
      ? []
      : credentialSpecProblems(gmsaCredentialSpec).map((problem) =>
          invalid(`${path}.gmsaCredentialSpec`, gmsaCredentialSpec, problem),
        )),
    ...(runAsUserName === undefined
      ? []
      : userNameProblems(runAsUserName).map((problem) => invalid(`${path}.runAsUserName`, runAsUserName, problem))),
  ];
}
