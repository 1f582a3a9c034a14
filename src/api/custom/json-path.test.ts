import type { JsonValue } from '../object';
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
    ['$.spec.replicas', [3]],
    ['.spec.replicas ', [3]],
    [' .spec @ .replicas', [3]],
    [".spec['replicas']", [3]],
    ['.metadata.labels.a\\.b/c', ['lab']],
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
    ['.spec.list[0,1].name', ['x', 'y']],
    ['.spec.list[1, 0].name', ['y', 'x']],
    [".spec['replicas','list'][*].name", []],
    [".spec['list','deep'].name", ['z']],
    ['.spec.list[:1].name', ['x']],
    ['.spec.list[::2].name', ['x']],
    ['.spec.list[-2:].name', ['x', 'y']],
    ['.spec.list[0:0].name', []],
    ['.spec.list[0:3].name', []],
    ['.spec.list[].name', ['x']],
    ['.spec.replicas[0]', []],
    ['.spec.deep.*', ['z']],
    ['..list[1].name', ['y']],
    ['.status..type', ['Ready', 'Stuck']],
    ['...name', ['x', 'y', 'z']],
    ['.spec.list[?(@.n==2)].name', ['y']],
    ['.spec.list[?(@.n=="2")].name', []],
    ['.spec.list[?(@.n>=2)].name', ['y']],
    ['.spec.list[?(@.n==2.0)].name', []],
    ['.spec.list[?(@.name>"x")].name', ['y']],
    ['.spec.list[?(2==@.n)].name', ['y']],
    ['.spec.list[?(@.name==@.name)].name', ['x', 'y']],
    ['.status.conditions[?(@.type==Ready)].status', []],
    ['.status.conditions[?(@.type<>"Ready")].status', []],
    ['.status.conditions[?(@.type==")")].status', []],
    ['.status.conditions[?(@.type=="Re\\x61dy")].status', ['True']],
    ['.spec[?(@.name)]', []],
    ['.spec range', []],
    ['.spec.deep "text"', ['text']],
  ])('%s leads to %j', (path, expected) => {
    expect(compileJsonPath(path)?.(OBJECT)).toEqual(expected);
  });

  it.each([
    ['.spec.list['],
    ['.spec.list[a]'],
    ['.spec.list["a"]'],
    ['.spec.list[1:-]'],
    ['.spec.list[0,b]'],
    ['.spec.list[?(@.n==1]'],
    ['.spec.list[?(@.n==1)'],
    ['.spec.list[?(==1)]'],
    ['.a....b'],
    ['..*'],
    ['.a,b'],
    ['.a\tb'],
    ['.a\n'],
    ['.a -'],
    ['.a "b'],
    ['.a "\\q"'],
    ['.a}{,'],
    ['.status.conditions[?(@.type=~"Ready")].status'],
  ])('%j cannot be read', (path) => {
    expect(compileJsonPath(path)).toBeUndefined();
  });

  it('takes a value once, by however many ways it leads there', () => {
    let list: JsonValue = ['x'];
    for (let depth = 0; depth < 60; depth++) list = [list];
    const steps = '[0,0]'.repeat(60);
    expect(compileJsonPath(`${steps}[0]`)?.(list)).toEqual(['x']);
  });

  it('gives up on filters that look through lists within lists again and again', () => {
    let list: JsonValue = [[1]];
    for (let depth = 0; depth < 900; depth++) list = [list, [1], [1]];
    expect(compileJsonPath('..[?(@..[0])]')?.(list)).toEqual([]);
    expect(compileJsonPath('..[?(@..[0])]')?.([[[1]]])).toEqual([[[1]], [1]]);
  });
});
