import { AUTHORIZATION_MODES, type AuthorizationMode, type AuthorizationOptions } from '../apiserver/authorization';
import type { FlagTable, OptionsOf } from './flag-table';

/** The flags that say who may do what. */
export const authorizationFlags = {
  'authorization-mode': {
    type: 'strings',
    section: 'Authorization',
    default: 'AlwaysAllow',
    help: `Authorizers in order: ${AUTHORIZATION_MODES.join(', ')}.`,
  },
  'authorization-policy-file': {
    type: 'string',
    section: 'Authorization',
    help: 'Policies of the mode ABAC, one JSON object a line.',
  },
  'authorization-webhook-config-file': {
    type: 'string',
    section: 'Authorization',
    help: 'Kubeconfig of the webhook of the mode Webhook, which is asked with SubjectAccessReviews.',
  },
  'authorization-webhook-version': {
    type: 'string',
    section: 'Authorization',
    default: 'v1beta1',
    help: 'Version of the SubjectAccessReviews that are sent: v1 or v1beta1.',
  },
  'authorization-webhook-cache-authorized-ttl': {
    type: 'duration',
    section: 'Authorization',
    default: '5m0s',
    help: 'How long a permission of the webhook is believed.',
  },
  'authorization-webhook-cache-unauthorized-ttl': {
    type: 'duration',
    section: 'Authorization',
    default: '30s',
    help: 'How long a refusal of the webhook is believed.',
  },
} as const satisfies FlagTable;

export type AuthorizationFlags = OptionsOf<typeof authorizationFlags>;

function isMode(name: string): name is AuthorizationMode {
  return AUTHORIZATION_MODES.some((mode) => mode === name);
}

/** What is wrong with the flags, before any file is read. */
export function authorizationProblems(flags: AuthorizationFlags): readonly string[] {
  const { authorizationMode: modes, authorizationPolicyFile, authorizationWebhookConfigFile: webhookFile } = flags;
  const abac = modes.includes('ABAC');
  const webhook = modes.includes('Webhook');
  return [
    ...modes
      .filter((mode) => !isMode(mode))
      .map((mode) => `authorization-mode ${JSON.stringify(mode)} is not one of ${AUTHORIZATION_MODES.join(', ')}`),
    ...(modes.length === 0 ? ['at least one authorization-mode must be passed'] : []),
    ...(new Set(modes).size < modes.length ? ['authorization-mode has a mode twice'] : []),
    ...(abac && authorizationPolicyFile === ''
      ? ["authorization-mode ABAC's authorization policy file not passed"]
      : []),
    ...(!abac && authorizationPolicyFile !== ''
      ? ['cannot specify --authorization-policy-file without mode ABAC']
      : []),
    ...(webhook && webhookFile === '' ? ["authorization-mode Webhook's authorization config file not passed"] : []),
    ...(!webhook && webhookFile !== ''
      ? ['cannot specify --authorization-webhook-config-file without mode Webhook']
      : []),
    ...(webhook && !['v1', 'v1beta1'].includes(flags.authorizationWebhookVersion)
      ? [`unsupported webhook authorizer version ${JSON.stringify(flags.authorizationWebhookVersion)}`]
      : []),
  ];
}

export function authorizationFromFlags(flags: AuthorizationFlags): AuthorizationOptions {
  const { authorizationWebhookConfigFile: configFile } = flags;
  return {
    modes: flags.authorizationMode.filter(isMode),
    policyFile: flags.authorizationPolicyFile,
    ...(configFile === ''
      ? {}
      : {
          webhook: {
            configFile,
            version: flags.authorizationWebhookVersion === 'v1' ? ('v1' as const) : ('v1beta1' as const),
            allowedTtlMs: flags.authorizationWebhookCacheAuthorizedTtl,
            refusedTtlMs: flags.authorizationWebhookCacheUnauthorizedTtl,
          },
        }),
  };
}
