import { compileJsonPath } from './json-path';

const OBJECT = {
  metadata: { labels: { 'a.b/c': 'lab' } },
  spec: { replicas: 3, list: [{ name: 'x' }, { name: 'y', n: 2 }], deep: { name: 'z' } },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Stuck', status: 'False' },
    ],
  },
};

describe('the JSONPath of printer columns', () => {
  it.each([
    ['.spec.replicas', [3]],
    ['spec.replicas', [3]],
    ['{.spec.replicas}', [3]],
    ["$.spec['replicas']", [3]],
    ['.metadata.labels.a\\.b/c', ['lab']],
    ["['metadata'].labels['a.b/c']", ['lab']],
    ['.spec.list[0].name', ['x']],
    ['.spec.list[-1].name', ['y']],
    ['.spec.list[*].name', ['x', 'y']],
    ['.spec.list[1:].name', ['y']],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.type == 'Stuck')].status", ['False']],
    ['.status.conditions[?(@.type!="Ready")].type', ['Stuck']],
    ['.spec.list[?(@.n>1)].name', ['y']],
    ['.spec.list[?(@.n)].name', ['y']],
    ['.spec..name', ['x', 'y', 'z']],
    ['.spec.missing.deeper', []],
    ['.spec.list[7]', []],
    ['.spec.list[', []],
  ])('%s leads to %j', (path, expected) => {
    expect(compileJsonPath(path)(OBJECT)).toEqual(expected);
  });
});
