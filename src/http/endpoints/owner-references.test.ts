import type { KubeObject, OwnerReference } from '../../api/object';
import { atOnce, type Steps } from '../../api/parts';
import { withoutDuplicateOwners } from './owner-references';

const owner = (uid: string, name = uid): OwnerReference => ({ apiVersion: 'v1', kind: 'Node', name, uid });

function clean(owners: readonly OwnerReference[], found: 'sent' | 'admitted' = 'sent') {
  const warnings: string[] = [];
  const object = { metadata: { name: 'a', ownerReferences: owners } };
  const result = withoutDuplicateOwners(object, found, {
    warn: (text) => warnings.push(text),
    givesWay: false,
    takeSteps: (steps) => Promise.resolve(atOnce(steps)),
  }) as KubeObject;
  return { unchanged: result === object, owners: result.metadata.ownerReferences, warnings };
}

describe('owner references', () => {
  it('stay as they are when each is there once', () => {
    expect(clean([owner('u'), owner('v')])).toMatchObject({ unchanged: true, warnings: [] });
  });

  it('that share a uid but differ otherwise both stay', () => {
    expect(clean([owner('u', 'a'), owner('u', 'b')])).toMatchObject({ unchanged: true, warnings: [] });
  });

  it('that repeat others go, with a warning that names each repetition', () => {
    const { owners, warnings } = clean([owner('u'), owner('v'), owner('u'), owner('v'), owner('u')]);
    expect(owners).toEqual([owner('u'), owner('v')]);
    expect(warnings).toEqual([
      '.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may ' +
        'reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u, v, u',
    ]);
  });

  it('that admission has doubled are told apart', () => {
    const { warnings } = clean([owner('u'), owner('u')], 'admitted');
    expect(warnings).toEqual([expect.stringContaining('contains duplicate entries after mutating admission happens')]);
  });

  it('of a large object are compared one at a time', async () => {
    const ownerReferences = Array.from({ length: 100 }, (_, index) => owner(`u-${index % 50}`));
    let pauses = 0;
    const takeSteps = <Result>(steps: Steps<Result>): Promise<Result> => {
      for (;;) {
        const step = steps.next();
        if (step.done === true) return Promise.resolve(step.value);
        pauses += 1;
      }
    };
    const context = { warn: () => undefined, givesWay: true, takeSteps };
    const { metadata } = await withoutDuplicateOwners({ metadata: { name: 'a', ownerReferences } }, 'sent', context);
    expect(metadata.ownerReferences).toHaveLength(50);
    expect(pauses).toBe(ownerReferences.length);
  });
});
