import { readPluginConfigurations } from './configuration';

const files: Record<string, string> = {
  '/etc/a/config.yaml': `
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: EventRateLimit
  path: events.yaml
- name: PodNodeSelector
  configuration: {podNodeSelectorPluginConfig: {clusterDefaultNodeSelector: a=b}}
`,
  '/etc/a/events.yaml': 'limits: [{type: Server, qps: 1, burst: 2}]',
  '/etc/a/alpha.yaml':
    '{apiVersion: apiserver.k8s.io/v1alpha1, kind: AdmissionConfiguration, plugins: [{name: X, configuration: 1}]}',
  '/etc/a/legacy.yaml': 'imagePolicy: {defaultAllow: true}',
  '/etc/a/text.yaml': 'nonsense',
  '/etc/a/odd.yaml': '{apiVersion: v1, kind: Pod}',
  '/etc/a/nameless.yaml': '{apiVersion: apiserver.config.k8s.io/v1, kind: AdmissionConfiguration, plugins: [{}]}',
};
const read = (path: string) =>
  readPluginConfigurations(path, (wanted) => {
    const text = files[wanted];
    if (text === undefined) throw new Error('no such file');
    return text;
  });

describe('the admission configuration file', () => {
  it('gives each plugin its configuration, inline or from a file beside it', () => {
    expect([...read('/etc/a/config.yaml')]).toEqual([
      ['EventRateLimit', { limits: [{ type: 'Server', qps: 1, burst: 2 }] }],
      ['PodNodeSelector', { podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'a=b' } }],
    ]);
  });

  it('is read in its older forms', () => {
    expect(read('/etc/a/alpha.yaml').get('X')).toBe(1);
    const legacy = read('/etc/a/legacy.yaml');
    expect([...legacy.keys()]).toEqual(['ImagePolicyWebhook', 'PodNodeSelector']);
    expect(legacy.get('ImagePolicyWebhook')).toEqual({ imagePolicy: { defaultAllow: true } });
  });

  it.each([
    ['/etc/a/odd.yaml', 'no kind "Pod" in version "v1" is known'],
    ['/etc/a/nameless.yaml', 'plugins[0].name: Required value'],
    ['/etc/a/none.yaml', 'no such file'],
    ['/etc/a/text.yaml', '/etc/a/text.yaml: this is no AdmissionConfiguration'],
  ])('refuses %s', (path, text) => {
    expect(() => read(path)).toThrow(text);
  });
});
