import { createLogger } from './logger';
import { readableLine } from './readable-lines';

const time = '2026-03-01T12:00:01.250Z';
const line = (record: object): string => `${JSON.stringify({ level: 'warn', time, ...record })}\n`;

describe('a line of the log at a terminal', () => {
  it('begins with the time and the level, and ends with the details', () => {
    expect(readableLine(line({ port: 6443, path: '/a b', ok: true, msg: 'serving' }))).toBe(
      '12:00:01.250 WARN  serving port=6443 path="/a b" ok=true\n',
    );
  });

  it('says in a warning what went wrong, and in an error also where', () => {
    const err = { type: 'Error', message: 'gone', stack: 'Error: gone\n    at store (x.ts:1)' };
    expect(readableLine(line({ err, msg: 'reading failed' }))).toBe('12:00:01.250 WARN  reading failed: gone\n');
    expect(readableLine(line({ err, msg: 'reading failed', level: 'error' }))).toBe(
      '12:00:01.250 ERROR reading failed\n    Error: gone\n        at store (x.ts:1)\n',
    );
  });

  it('has nothing in it that a terminal obeys', () => {
    const evil = '\u001b[2Jgone\u009b1m\nfake';
    const text = readableLine(line({ msg: evil, [evil]: evil, err: { message: evil } }));
    expect(text.trimEnd()).not.toMatch(/\p{Cc}/u);
  });

  it('stays as it is when it is none', () => {
    expect(readableLine('not JSON\n')).toBe('not JSON\n');
  });
});

describe('the logger', () => {
  const linesOf = (format: 'json' | 'text'): string => {
    let written = '';
    const logger = createLogger({ format, destination: { write: (text) => void (written += text) } });
    logger.info({ port: 1 }, 'serving');
    return written;
  };

  it('writes lines for readers or for programs', () => {
    expect(linesOf('text')).toMatch(/^\d\d:\d\d:\d\d\.\d{3} INFO {2}serving port=1\n$/);
    expect(JSON.parse(linesOf('json'))).toMatchObject({ level: 'info', port: 1, msg: 'serving' });
  });
});
