import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { followFiles } from './followed-files';

let folder: string;
let closed: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sternpost-followed-'));
  closed = [];
});
afterEach(() => {
  jest.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

/** The file `first` names another one; what is made of them is the text of that. */
function follow() {
  return followFiles({
    files: () => [join(folder, 'first'), join(folder, read('first'))],
    load: () => {
      const text = read(read('first'));
      if (text === 'broken') throw new Error('it is broken');
      return { text, close: () => closed.push(text) };
    },
  });
}

/** Enough for the next look. */
function later(): void {
  const now = performance.now() + 10_000;
  jest.spyOn(performance, 'now').mockReturnValue(now);
}

it('is what the files are when it is asked for, those included that a changed one names', () => {
  write('first', 'a');
  write('a', 'one');
  const { current } = follow();
  write('b', 'two');
  write('first', 'b');
  expect(current().text).toBe('one');
  later();
  expect(current().text).toBe('two');
  write('b', 'three');
  later();
  expect(current().text).toBe('three');
});

it('stays what it was while the files are no good', () => {
  write('first', 'a');
  write('a', 'one');
  const { current } = follow();
  write('a', 'broken');
  later();
  expect(current().text).toBe('one');
  write('a', 'mended');
  later();
  expect(current().text).toBe('mended');
});

it('closes what has been replaced twice, and at the end the rest', () => {
  write('first', 'a');
  write('a', 'one');
  const { current, close } = follow();
  for (const text of ['two', 'three']) {
    write('a', text);
    later();
    current();
  }
  expect(closed).toEqual(['one']);
  close();
  expect(closed).toEqual(['one', 'two', 'three']);
});
