import { defaultPod } from '../kinds/core/pod-defaults';
import type { KubeObject } from '../object';
import { validateEphemeralContainersUpdate } from './ephemeral-containers-update';

const defaults = { image: 'i:1', terminationMessagePolicy: 'File', imagePullPolicy: 'IfNotPresent' };

function pod(ephemeralContainers: readonly object[], annotations: Readonly<Record<string, string>> = {}): KubeObject {
  return defaultPod({
    metadata: { name: 'p', annotations },
    spec: {
      containers: [{ ...defaults, name: 'c' }],
      nodeName: 'n',
      restartPolicy: 'Always',
      dnsPolicy: 'ClusterFirst',
      ephemeralContainers: ephemeralContainers.map((container) => ({ ...defaults, ...container })),
    },
  });
}

function problems(object: KubeObject, old: KubeObject): readonly string[] {
  return validateEphemeralContainersUpdate(object, old).map(({ field, message }) => `${field}: ${message}`);
}

describe('ephemeral containers', () => {
  test('are added, in any order', () => {
    expect(problems(pod([{ name: 'b' }, { name: 'a', targetContainerName: 'c' }]), pod([{ name: 'b' }]))).toEqual([]);
  });

  test('neither go nor change', () => {
    expect(problems(pod([{ name: 'b', image: 'i:2' }]), pod([{ name: 'a' }, { name: 'b' }]))).toEqual([
      'spec.ephemeralContainers: Forbidden: existing ephemeral containers "a" may not be removed\n',
      'spec.ephemeralContainers: Forbidden: existing ephemeral containers "b" may not be changed\n' +
        '  core.EphemeralContainer{\n- \timage: "i:1",\n+ \timage: "i:2",\n  }\n',
    ]);
  });

  test('have to be sound', () => {
    expect(problems(pod([{ name: 'c' }]), pod([]))).toEqual(['spec.ephemeralContainers[0].name: Duplicate value: "c"']);
  });

  test('do not come to pods that stand for a file on their node', () => {
    const mirror = { 'kubernetes.io/config.mirror': 'x' };
    expect(problems(pod([{ name: 'a' }], mirror), pod([], mirror))).toEqual([
      ': Forbidden: static pods do not support ephemeral containers',
    ]);
  });
});
