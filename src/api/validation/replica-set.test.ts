import { validateReplicaSet, validateReplicaSetStatusUpdate, validateReplicaSetUpdate } from './replica-set';

const metadata = { name: 'x' };
const template = {
  metadata: { labels: { app: 'a' } },
  spec: {
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    containers: [{ name: 'c', image: 'i', imagePullPolicy: 'Always', terminationMessagePolicy: 'File' }],
  },
};
const valid = { metadata, spec: { replicas: 1, selector: { matchLabels: { app: 'a' } }, template } };

describe('replica sets', () => {
  test('a selector that finds the pods of the template is needed', () => {
    expect(validateReplicaSet(valid)).toEqual([]);
    const other = { metadata, spec: { ...valid.spec, selector: { matchLabels: { app: 'b' } }, minReadySeconds: -1 } };
    expect(validateReplicaSet(other).map(({ field }) => field)).toEqual([
      'spec.minReadySeconds',
      'spec.template.metadata.labels',
    ]);
  });

  test('an update reports problems twice and keeps the selector', () => {
    const changed = {
      metadata,
      spec: { ...valid.spec, replicas: -1, selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } },
    };
    expect(validateReplicaSetUpdate(changed, valid).map(({ field }) => field)).toEqual([
      'spec.replicas',
      'spec.replicas',
      'spec.selector',
    ]);
  });

  test('no part of the replicas is more than all', () => {
    const fields = (status: object) => validateReplicaSetStatusUpdate({ metadata, status }).map(({ field }) => field);
    expect(fields({ replicas: 2, readyReplicas: 2, availableReplicas: 2, fullyLabeledReplicas: 2 })).toEqual([]);
    expect(fields({ replicas: 1, readyReplicas: 2, availableReplicas: 1 })).toEqual(['status.readyReplicas']);
    expect(fields({ replicas: 2, readyReplicas: 1, availableReplicas: 2 })).toEqual(['status.availableReplicas']);
    expect(fields({ observedGeneration: -1 })).toEqual(['status.observedGeneration']);
  });
});
