import fc from 'fast-check';
import { Base64Error, canonicalBase64, withoutLineBreaks } from './base64';

test('line breaks, and nothing else, are left out of a text', () => {
  const bits = fc.constantFrom('\n', '\r', 'a', '=', ' ', '\u00e9', '\u{1f600}');
  fc.assert(
    fc.property(fc.array(bits), (some) => {
      const text = some.join('');
      expect(withoutLineBreaks(text)).toBe(text.replace(/[\r\n]/g, ''));
    }),
  );
});

test('base64 is what its bytes are written as, wherever its lines are broken', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.integer({ min: 1, max: 9 }), (bytes, width) => {
      const text = Buffer.from(bytes).toString('base64');
      expect(canonicalBase64(text.replaceAll(new RegExp(`.{${width}}`, 'g'), '$&\r\n'))).toBe(text);
    }),
  );
});

test('where a text stops being base64 is counted without its line breaks', () => {
  expect(() => canonicalBase64('YW\nJj\n*')).toThrow(new Base64Error('illegal base64 data at input byte 4'));
});
