import { readFileSync } from 'node:fs';
import { parseAuditPolicy } from '../../audit/policy';
import { parseTokenFile } from '../../authn/token-file';
import { parseAbacPolicies } from '../../authz/abac';
import { readKubeconfig } from '../../client/kubeconfig-file';
import type { ApiserverOptions } from '../../flags/apiserver-flags';
import { openEncryption } from '../../flags/open-encryption';
import { silentLogger } from '../../observability/logger';
import { parseSigningKey, parseVerificationKeys } from '../../pki/signing-keys';
import { fail, ok, warn, type Finding } from './finding';

/** What one flag names, and how a server reads it: throws what is wrong, returns what is odd. */
interface NamedFile {
  readonly flag: string;
  readonly file: string;
  readonly read: (file: string) => readonly string[] | void;
}

const ADVICE = 'Put the file in order, or let the user of the server read it.';

/** The files with configurations and keys, read as the server would. Flags about admission and traces are checked with the flags. */
export function configurationFindings(options: ApiserverOptions): readonly Finding[] {
  return namedFiles(options)
    .filter(({ file }) => file !== '')
    .flatMap(findingsOf);
}

function namedFiles(options: ApiserverOptions): readonly NamedFile[] {
  const text = (file: string): string => readFileSync(file, 'utf8');
  const kubeconfig = (file: string): void => void readKubeconfig(file);
  const { serviceAccountSigningKeyFile: signingKey } = options;
  return [
    {
      flag: 'encryption-provider-config',
      file: options.encryptionProviderConfig,
      read: () => openEncryption({ ...options, encryptionProviderConfigAutomaticReload: false }, silentLogger)?.close(),
    },
    {
      flag: 'audit-policy-file',
      file: options.auditPolicyFile,
      read: (file) => {
        const odd: string[] = [];
        parseAuditPolicy(text(file), file, (problem) => odd.push(problem));
        return odd;
      },
    },
    { flag: 'audit-webhook-config-file', file: options.auditWebhookConfigFile, read: kubeconfig },
    {
      flag: 'token-auth-file',
      file: options.tokenAuthFile,
      read: (file) => parseTokenFile(text(file), file).warnings,
    },
    {
      flag: 'service-account-signing-key-file',
      file: signingKey,
      read: (file) => void parseSigningKey(text(file)),
    },
    ...options.serviceAccountKeyFile.map((file) => ({
      flag: 'service-account-key-file',
      // The same file is told of once.
      file: file === signingKey ? '' : file,
      read: (path: string) => void parseVerificationKeys(text(path)),
    })),
    {
      flag: 'authentication-token-webhook-config-file',
      file: options.authenticationTokenWebhookConfigFile,
      read: kubeconfig,
    },
    { flag: 'authorization-webhook-config-file', file: options.authorizationWebhookConfigFile, read: kubeconfig },
    {
      flag: 'authorization-policy-file',
      file: options.authorizationPolicyFile,
      read: (file) => void parseAbacPolicies(text(file), file),
    },
  ];
}

function findingsOf({ flag, file, read }: NamedFile): readonly Finding[] {
  const subject = `--${flag} ${file}`;
  try {
    const odd = read(file) ?? [];
    return odd.length > 0 ? odd.map((problem) => warn(subject, problem, ADVICE)) : [ok(subject, 'it can be read')];
  } catch (error) {
    return [fail(subject, (error as Error).message, ADVICE)];
  }
}
