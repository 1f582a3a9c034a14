import { LogOutput, type LogFile } from './log-output';

type Done = Parameters<LogFile['write']>[1];

describe('the output of the log', () => {
  let now = 0;
  let writes: { readonly text: string; readonly done: Done }[];
  let written: string;
  let output: LogOutput;

  beforeEach(() => {
    now = 0;
    writes = [];
    written = '';
    const file: LogFile = {
      write: (bytes, done) => writes.push({ text: bytes.toString(), done }),
      writeSync: (bytes) => {
        written += bytes.toString();
        return bytes.length;
      },
    };
    output = new LogOutput(file, () => now);
  });

  const succeed = (): void => {
    const { text, done } = writes.shift()!;
    done(null, Buffer.byteLength(text));
  };

  it('writes one piece at a time, and what comes meanwhile together', () => {
    output.write('a\n');
    output.write('b\n');
    output.write('c\n');
    expect(writes.map(({ text }) => text)).toEqual(['a\n']);
    succeed();
    expect(writes.map(({ text }) => text)).toEqual(['b\nc\n']);
  });

  it('goes on where a piece was cut off', () => {
    output.write('héllo\n');
    writes.shift()!.done(null, 3);
    expect(writes.map(({ text }) => text)).toEqual(['llo\n']);
  });

  it('is in order until a line cannot be written, and again when one gets through', () => {
    expect(output.check).not.toThrow();
    output.write('lost\n');
    writes.shift()!.done(new Error('no space left on device'), 0);
    expect(output.check).toThrow('no space left on device');

    output.write('too soon\n');
    expect(writes).toHaveLength(0);
    now = 1_000;
    output.write('tried\n');
    expect(output.check).toThrow('no space left on device');
    succeed();
    expect(output.check).not.toThrow();
  });

  it('keeps no more than 4 MiB for a reader that is slow', () => {
    const line = `${'x'.repeat(1024 * 1024 - 1)}\n`;
    for (let index = 0; index < 10; index++) output.write(line);
    succeed();
    expect(writes[0]?.text.length).toBe(4 * 1024 * 1024);
  });

  it('writes what is left before the process ends', () => {
    output.write('under way\n');
    output.write('left\n');
    output.flush();
    expect(written).toBe('left\n');
  });
});
