import { editDistance, nearestName } from './nearest-name';

it.each([
  ['', 'abc', 3],
  ['kitten', 'sitting', 3],
  ['secure-prot', 'secure-port', 1],
  ['etcd-server', 'etcd-servers', 1],
])('from %j to %j it takes %i steps', (from, to, steps) => {
  expect(editDistance(from, to)).toBe(steps);
  expect(editDistance(to, from)).toBe(steps);
});

describe('the nearest name', () => {
  const known = ['secure-port', 'bind-address', 'etcd-servers', 'v'];

  it('is the one that somebody may have meant', () => {
    expect(nearestName('secureport', known)).toBe('secure-port');
    expect(nearestName('etcd-server', known)).toBe('etcd-servers');
    expect(nearestName('bind-adress', known)).toBe('bind-address');
  });

  it('is none when they have little in common', () => {
    expect(nearestName('nosuch', known)).toBeUndefined();
    expect(nearestName('x'.repeat(10_000), known)).toBeUndefined();
  });
});
