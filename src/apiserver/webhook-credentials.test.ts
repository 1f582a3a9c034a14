import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '../observability/logger';
import { webhookCredentials } from './webhook-credentials';

const folder = mkdtempSync(join(tmpdir(), 'credentials-'));
afterAll(() => rmSync(folder, { recursive: true }));

const credentials = (configuration: unknown): ReturnType<typeof webhookCredentials> =>
  webhookCredentials(new Map([['ValidatingAdmissionWebhook', configuration]]), 'validating', silentLogger);

describe('the configuration of a webhook plugin', () => {
  it('names the kubeconfig whose users webhooks are shown', () => {
    const kubeConfigFile = join(folder, 'kubeconfig');
    writeFileSync(kubeConfigFile, JSON.stringify({ kind: 'Config', users: [{ name: '*', user: { token: 't' } }] }));
    const stable = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'WebhookAdmissionConfiguration', kubeConfigFile };
    const alpha = { apiVersion: 'apiserver.config.k8s.io/v1alpha1', kind: 'WebhookAdmission', kubeConfigFile };
    for (const each of [stable, alpha]) expect(credentials(each)('a:443').authorization).toBe('Bearer t');
    expect(
      webhookCredentials(new Map([['ValidatingAdmissionWebhook', stable]]), 'admit', silentLogger)('a:443')
        .authorization,
    ).toBe(undefined);
  });

  it('may be left out, or name no file', () => {
    const nothing = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'WebhookAdmissionConfiguration' };
    for (const each of [undefined, nothing]) expect(credentials(each)('a:443').authorization).toBe(undefined);
  });

  it.each([
    [
      'of another kind',
      { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'WebhookAdmission' },
      'no kind "WebhookAdmission"',
    ],
    [
      'with a relative path',
      { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'WebhookAdmissionConfiguration', kubeConfigFile: 'f' },
      'kubeConfigFile: Invalid value: "f": must be an absolute file path',
    ],
    [
      'with a file that is not there',
      { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'WebhookAdmissionConfiguration', kubeConfigFile: '/none' },
      'the kubeconfig cannot be read',
    ],
  ])('%s is refused at the start', (_what, configuration, message) => {
    expect(() => credentials(configuration)).toThrow(message);
    expect(() => credentials(configuration)).toThrow('couldn\'t init admission plugin "ValidatingAdmissionWebhook"');
  });
});
