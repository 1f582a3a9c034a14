import fc from 'fast-check';
import { canonicalJson as canonicalJsonInSteps } from '../steps/generated/apply/canonical-json';
import { inBothForms, take } from '../steps/both-forms.fixture';
import { canonicalJson } from './canonical-json';

describe('JSON as Go writes it', () => {
  it('is escaped for HTML', () => {
    expect(canonicalJson({ b: '<&>', a: ['\u2028', '\u2029'] })).toBe(
      String.raw`{"a":["\u2028","\u2029"],"b":"\u003c\u0026\u003e"}`,
    );
  });

  it('is made in steps where much of a long text has to be escaped', () => {
    const text = '<'.repeat(1_000_000);
    expect(inBothForms(canonicalJson, canonicalJsonInSteps)(text)).toHaveLength(6_000_002);
    expect(take(canonicalJsonInSteps(text)).pauses).toBeGreaterThan(10);
  });

  it('is the same JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value as never))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
