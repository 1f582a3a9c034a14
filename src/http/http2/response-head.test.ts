import { addHeaders, encodeResponseHead, type ResponseHeaders } from './response-head';
import { HeaderTable } from '../../http2/header-table';
import { readHeaderBlock } from '../../http2/hpack';

function read(block: Buffer): [string, string][] {
  const fields: [string, string][] = [];
  readHeaderBlock(block, new HeaderTable(0), ({ name, value }) => fields.push([name, value]) > 0);
  return fields;
}

describe('the head of an answer', () => {
  afterEach(() => jest.useRealTimers());

  it('begins with its code, and says when it was made', () => {
    jest.useFakeTimers({ now: new Date('2026-01-02T03:04:05.678Z') });
    expect(read(encodeResponseHead(404, { 'content-length': '5' }))).toEqual([
      [':status', '404'],
      ['date', 'Fri, 02 Jan 2026 03:04:05 GMT'],
      ['content-length', '5'],
    ]);
  });

  it('keeps up with the clock, also when that is set back', () => {
    jest.useFakeTimers({ now: new Date('2026-01-02T03:04:05.999Z') });
    const dates = ['03:04:05.999', '03:04:06.000', '03:04:06.999', '03:04:07.500', '03:04:05.100', '02:00:00.000'];
    const seen = dates.map((time) => {
      jest.setSystemTime(new Date(`2026-01-02T${time}Z`));
      return read(encodeResponseHead(200, {}))[1]![1].slice(17, 25);
    });
    expect(seen).toEqual(['03:04:05', '03:04:06', '03:04:06', '03:04:07', '03:04:05', '02:00:00']);
  });

  it('says nothing of the connection, which is not the answer’s business in HTTP/2', () => {
    const headers = { connection: 'close', 'keep-alive': '5', 'transfer-encoding': 'chunked', upgrade: 'x', vary: 'a' };
    expect(read(encodeResponseHead(200, headers)).slice(2)).toEqual([['vary', 'a']]);
  });

  it('has a field for each value of a header', () => {
    const warnings = ['299 - "a"', '299 - "b, c"'];
    expect(read(encodeResponseHead(200, { warning: warnings })).slice(2)).toEqual(
      warnings.map((value) => ['warning', value]),
    );
  });

  it('has a date of its own only when none was set', () => {
    const fields = read(encodeResponseHead(200, { date: 'yesterday' }));
    expect(fields.filter(([name]) => name === 'date')).toEqual([['date', 'yesterday']]);
  });

  it('keeps the bytes of its values', () => {
    expect(read(encodeResponseHead(200, { 'x-name': 'Zo\u00eb' }))[2]).toEqual(['x-name', 'Zo\u00eb']);
  });
});

describe('headers as node:http takes them', () => {
  it('are added under their names in lower case, numbers as text', () => {
    const headers: ResponseHeaders = { vary: 'a', etag: 'old' };
    addHeaders(headers, { 'Content-Length': 12, ETag: 'new', Warning: ['a', 'b'], Age: undefined });
    expect(headers).toEqual({ vary: 'a', etag: 'new', 'content-length': '12', warning: ['a', 'b'] });
  });
});
