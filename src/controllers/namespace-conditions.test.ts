import { conditionsOf, type Condition, type Remaining } from './namespace-conditions';

const nothing: Remaining = { resources: new Map(), finalizers: new Map(), failures: [], undiscovered: [] };
const held: Remaining = {
  ...nothing,
  resources: new Map([
    ['pods.', 2],
    ['things.example.com', 1],
  ]),
  finalizers: new Map([
    ['example.com/a', 2],
    ['example.com/b', 1],
  ]),
};

function messageOf(conditions: readonly Condition[], type: string): string | undefined {
  return conditions.find((condition) => condition.type === type && condition.status === 'True')?.message;
}

describe('the conditions of a namespace that is being deleted', () => {
  it('say how many objects are left and which finalizers hold them', () => {
    const conditions = conditionsOf(held, [], 'now');
    expect(messageOf(conditions, 'NamespaceContentRemaining')).toBe(
      'Some resources are remaining: pods. has 2 resource instances, things.example.com has 1 resource instances',
    );
    expect(messageOf(conditions, 'NamespaceFinalizersRemaining')).toBe(
      'Some content in the namespace has finalizers remaining: example.com/a in 2 resource instances, example.com/b in 1 resource instances',
    );
  });

  it('keep the time since which they say so, and leave those of others', () => {
    const foreign = { type: 'Foreign', status: 'True' };
    const first = conditionsOf(held, [foreign], 'first');
    expect(conditionsOf(held, first, 'second')).toEqual(first);
    const last = conditionsOf(nothing, first, 'second');
    expect(last[0]).toEqual(foreign);
    expect(last.map(({ lastTransitionTime }) => lastTransitionTime)).toEqual([
      undefined,
      'first',
      'first',
      'first',
      'second',
      'second',
    ]);
  });
});
