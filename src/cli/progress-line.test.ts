import { printProgress, ProgressLine } from './progress-line';

describe('a progress line', () => {
  it.each([
    [0, 3600, '[                              ] 0/3,600 keys (0%)'],
    [1200, 3600, '[==========                    ] 1,200/3,600 keys (33%)'],
    [3600, 3600, '[==============================] 3,600/3,600 keys (100%)'],
    [0, 0, '[==============================] 0/0 keys (100%)'],
  ])('at %d of %d is %s', (done, total, text) => {
    expect(printProgress(done, total, 'keys')).toBe(text);
  });

  it('is drawn over itself on a terminal, a few times a second, and stays at the end', () => {
    const written: string[] = [];
    const line = new ProgressLine({ isTTY: true, write: (text) => written.push(text) }, 'keys');
    for (let done = 1; done <= 1000; done++) line.show(done, 1000);
    line.end();
    line.end();
    expect(written.length).toBeLessThan(10);
    expect(written.every((text) => text.startsWith('\r'))).toBe(true);
    expect(written.at(-1)).toBe(`\r${printProgress(1000, 1000, 'keys')}\n`);
  });

  it('is a line for every tenth where it cannot be drawn over', () => {
    const written: string[] = [];
    const line = new ProgressLine({ write: (text) => written.push(text) }, 'keys');
    for (let done = 1; done <= 1000; done++) line.show(done, 1000);
    line.end();
    expect(written).toHaveLength(11);
    expect(written.at(-1)).toBe(`${printProgress(1000, 1000, 'keys')}\n`);
  });
});
