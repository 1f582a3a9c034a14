import { encodeHeaders } from '../../../http2/hpack';
import { decodeHeaders } from './known-headers';

describe("the server's header blocks", () => {
  it('mean the same when they come again, and after many others', () => {
    for (let round = 0; round < 3; round++) {
      for (let index = 0; index < 100; index++) {
        const fields = { ':status': '200', index: `${index}` };
        expect(Object.fromEntries(decodeHeaders(encodeHeaders(fields)))).toEqual(fields);
      }
    }
  });
});
