import { join } from 'node:path';
import { deriveSteps } from '../../scripts/steps/derive-steps';

/** What becomes of modules, by their names, without the way it is laid out. */
function derived(sources: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const files = new Map(Object.entries(sources).map(([name, text]) => [join('/api', `${name}.ts`), text]));
  const texts = deriveSteps('/api', '/api/steps/generated', Object.keys(sources), (file) => files.get(file) ?? '');
  return Object.fromEntries([...texts].map(([name, text]) => [name, text.replace(/\s+/g, ' ')]));
}

describe('the form in steps', () => {
  it('pauses in loops, and calls what does', () => {
    const { sums = '' } = derived({
      sums: `
        export function sum(list: number[]): number { let all = 0; for (const one of list) all += one; return all; }
        export function mean(list: number[]): number { return sum(list) / list.length; }
        export function first(list: number[]): number { return list[0]; }`,
    });
    expect(sums).toContain('function *sum(list: number[]): Steps<number>');
    expect(sums).toContain('for (const one of list) { if (isPauseDue()) yield; all += one; }');
    expect(sums).toContain('return (yield* sum(list)) / list.length;');
    expect(sums).not.toContain('first');
  });

  it('is taken from other modules where there is one', () => {
    const { trees = '' } = derived({
      lists: `
        export function visit(list: number[]): void { for (const one of list) one; }
        export function few(list: number[]): number { return list.length; }`,
      trees: `
        import { few, visit } from './lists';
        export function both(list: number[]): number { visit(list); return few(list); }`,
    });
    expect(trees).toContain("import { visit } from './lists';");
    expect(trees).toContain("import { few } from '../../lists';");
    expect(trees).toContain('(yield* visit(list)); return few(list);');
  });

  it('is that of methods, wherever they are called', () => {
    const { walks = '' } = derived({
      walks: `
        export class Walk { go(list: number[]): void { for (const one of list) this.see(one); } see(one: number): void { one; } }
        export function walk(list: number[]): void { new Walk().go(list); }`,
    });
    expect(walks).toContain('*go(list: number[]): Steps<void>');
    expect(walks).toContain('see(one: number): void');
    expect(walks).toContain('(yield* new Walk().go(list));');
  });

  it('lists the names of a map once', () => {
    const { maps = '' } = derived({
      maps: 'export function visit(map: object): void { for (const name in map) name; }',
    });
    expect(maps).toContain('for (const name of keysOf(map)) { if (isPauseDue()) yield; name; }');
  });

  it('takes the names that are known, and copies them where they may be changed', () => {
    const { maps = '' } = derived({
      maps: `
        export function visit(map: object): void { for (const name of Object.keys(map)) name; }
        export function sorted(map: object): void { for (const name of Object.keys(map).sort()) name; }`,
    });
    expect(maps).toContain('for (const name of keysOf(map)) { if (isPauseDue()) yield; name; }');
    expect(maps).toContain('for (const name of [...keysOf(map)].sort()) { if (isPauseDue()) yield; name; }');
  });

  it('copies what is private', () => {
    const { sums = '' } = derived({
      sums: `
        const LIMIT = 3;
        export function sum(list: number[]): number { for (const one of list) if (one > LIMIT) return one; return 0; }`,
    });
    expect(sums).toContain('const LIMIT = 3;');
  });

  it.each([
    ['a loop in a closure', 'export function all(lists: number[][]): void { lists.forEach((list) => visit(list)); }'],
    ['private state', 'const seen = new Set<number>(); export function see(): void { for (;;) seen.clear(); }'],
    ['a function without a type', 'export function see() { for (;;) return 1; }'],
  ])('is refused for %s', (_, text) => {
    const visit = 'export function visit(list: number[]): void { for (const one of list) one; }\n';
    expect(() => derived({ module: visit + text })).toThrow('/api/module.ts:2: ');
  });
});
