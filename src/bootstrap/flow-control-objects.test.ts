import { deepEqual } from '../api/kinds/deep-equal';
import type { KubeObject } from '../api/object';
import { readLevel, readSchema } from '../flowcontrol/configuration';
import { withDangling } from '../flowcontrol/dangling';
import { flowControlObjects, reconcileFlowControl } from './flow-control-objects';

const named = (resource: string, name: string) =>
  flowControlObjects().find((one) => one.resource === resource && one.object.metadata.name === name)!;
const mandatory = named('prioritylevelconfigurations', 'catch-all');
const suggested = named('flowschemas', 'system-nodes');
const AUTOUPDATE = 'apf.kubernetes.io/autoupdate-spec';

function changed({ object }: { readonly object: KubeObject }, metadata: object = {}): KubeObject {
  const spec = { ...(object['spec'] as object), matchingPrecedence: 4711 };
  return { ...object, metadata: { ...object.metadata, generation: 2, ...metadata }, spec };
}

describe('the default objects of flow control', () => {
  it('refer to levels that are among them', () => {
    const levels = flowControlObjects().filter(({ resource }) => resource === 'prioritylevelconfigurations');
    const names = levels.map(({ object }) => readLevel(object).name);
    const schemas = flowControlObjects().filter(({ resource }) => resource === 'flowschemas');
    expect(schemas.length).toBeGreaterThan(5);
    expect(schemas.filter(({ object }) => !names.includes(readSchema(object).level))).toEqual([]);
  });

  it('stay as they are while their specs are right', () => {
    for (const one of flowControlObjects()) expect(reconcileFlowControl(one.object, one)).toBeUndefined();
  });

  it('are restored where every cluster must have them, whatever the annotation says', () => {
    for (const annotations of [undefined, { [AUTOUPDATE]: 'false' }]) {
      const restored = reconcileFlowControl(changed(mandatory, { annotations }), mandatory);
      expect(deepEqual(restored?.['spec'], mandatory.object['spec'])).toBe(true);
    }
  });

  it.each([
    ['are left to an administrator who has changed them', {}, false],
    ['are kept up to date where nobody has changed them', { generation: 1 }, true],
    ['are kept up to date where the annotation says so', { annotations: { [AUTOUPDATE]: 'true' } }, true],
    ['are left alone where it says so', { generation: 1, annotations: { [AUTOUPDATE]: 'false' } }, false],
  ])('%s', (_what, metadata, isRestored) => {
    const result = reconcileFlowControl(changed(suggested, metadata), suggested);
    expect(result !== undefined).toBe(isRestored);
    if (!isRestored) return;
    expect(result?.['spec']).toEqual(suggested.object['spec']);
    expect(result?.metadata.annotations).toEqual({ [AUTOUPDATE]: 'true' });
  });
});

describe('the condition Dangling of a flow schema', () => {
  const NOW = '2026-01-01T00:00:00Z';

  it('says whether its level is there, and keeps its time until that changes', () => {
    const dangling = withDangling(suggested.object, () => false, NOW)!;
    expect(dangling['status']).toEqual({
      conditions: [
        {
          type: 'Dangling',
          status: 'True',
          reason: 'NotFound',
          message:
            'This FlowSchema references the PriorityLevelConfiguration object named "system" but there is no such object',
          lastTransitionTime: NOW,
        },
      ],
    });
    expect(withDangling(dangling, () => false, 'later')).toBeUndefined();
    const found = withDangling(dangling, (level) => level === 'system', 'later');
    expect(found?.['status']).toMatchObject({
      conditions: [{ status: 'False', reason: 'Found', lastTransitionTime: 'later' }],
    });
  });

  it('leaves other conditions alone', () => {
    const other = { type: 'Other', status: 'True' };
    const schema = { ...suggested.object, status: { conditions: [other] } };
    expect(withDangling(schema, () => true, NOW)?.['status']).toMatchObject({
      conditions: [other, { type: 'Dangling' }],
    });
  });
});
