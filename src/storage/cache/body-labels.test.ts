import fc from 'fast-check';
import { labelMatcher } from '../../api/selectors/label-matcher';
import { parseLabelSelector, type Labels } from '../../api/selectors/label-selector';
import { labelsOf, NO_LABELS } from './body-labels';
import { LabelIndex } from './label-index';

function bodyOf(object: object): Buffer {
  return Buffer.from(JSON.stringify(object).slice(1));
}

describe('labelsOf', () => {
  it('finds what parsing the whole object finds', () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('labels', '"labels":{"a":"b"}', '\\', '"', '}', 'ü', '\u{1F600}'),
    );
    const labels = fc.dictionary(text, text);
    const others = fc.dictionary(
      fc.string().filter((name) => name !== 'labels' && name !== '__proto__'),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(others, fc.option(labels), others, others, (before, found, after, rest) => {
        const metadata = { ...before, ...(found !== null && { labels: found }), ...after };
        const body = bodyOf({ metadata, ...rest });
        const expected = (JSON.parse(`{${body.toString()}`) as { metadata: { labels?: object } }).metadata.labels;
        expect(labelsOf(body)).toEqual(expected ?? {});
      }),
    );
  });

  it.each<[string, string, object]>([
    ['labels of the pod template only', '"metadata":{"name":"a"},"spec":{"metadata":{"labels":{"a":"b"}}}}', {}],
    ['no metadata', '"metadata":{},"spec":{"labels":{"a":"b"}}}', {}],
    ['null labels', '"metadata":{"labels":null}}', {}],
    ['no label in the labels', '"metadata":{"labels":{}}}', {}],
    ['a field before the metadata', '"0":{},"metadata":{"labels":{"labels":""}}}', { labels: '' }],
    ['white space', '"metadata":{ "name" : "a", "labels": {"a": "b"} } }', { a: 'b' }],
  ])('understands %s', (_, body, expected) => {
    expect(labelsOf(Buffer.from(body))).toEqual(expected);
  });

  it('shares one object between all objects without labels', () => {
    expect(labelsOf(bodyOf({ metadata: { name: 'a' } }))).toBe(NO_LABELS);
    expect(labelsOf(bodyOf({ metadata: { name: 'a', labels: {} } }))).toBe(NO_LABELS);
  });
});

describe('of many labels', () => {
  const many = (count: number): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`example.com/label-${index}`, `value-${index}`]));

  it('only those are read that a selector names', () => {
    const labels = { ...many(4_000), 'example.com/empty': '' };
    const found = labelsOf(bodyOf({ metadata: { name: 'a', labels, uid: 'u' }, data: { labels: 'x' } }));
    const picked = found instanceof LabelIndex ? found.pick(Object.keys(labels)) : undefined;
    expect({ ...picked }).toEqual(labels);
    const none =
      found instanceof LabelIndex ? found.pick(['example.com/label', 'uid', '__proto__', 'value-1']) : undefined;
    expect({ ...none }).toEqual({});
  });

  it('a selector finds what it finds among parsed ones', () => {
    const labels = many(4_000);
    const body = bodyOf({ metadata: { labels } });
    const found = labelsOf(body);
    expect(found).toBeInstanceOf(LabelIndex);
    const pickLabels = (keys: Iterable<string>): Labels => (found as LabelIndex).pick(keys);
    const key = fc.nat({ max: 4_100 }).map((index) => `example.com/label-${index}`);
    const value = fc.nat({ max: 4_100 }).map((index) => `value-${index}`);
    const term = fc.oneof(
      key,
      key.map((name) => `!${name}`),
      fc.tuple(key, fc.constantFrom('=', '!='), value).map((parts) => parts.join('')),
      fc.nat({ max: 3_999 }).map((index) => `example.com/label-${index}=value-${index}`),
    );
    fc.assert(
      fc.property(fc.array(term, { minLength: 1, maxLength: 12 }), (terms) => {
        const matches = labelMatcher(parseLabelSelector(terms.join(',')));
        expect(matches({ labels: undefined, pickLabels })).toBe(matches({ labels, pickLabels }));
      }),
    );
  });

  it('the last of two with one name counts', () => {
    const text = JSON.stringify(many(4_000)).replace(/\}$/, ',"example.com/label-7":"again"}');
    const found = labelsOf(Buffer.from(`"metadata":{"labels":${text}}}`));
    expect(found instanceof LabelIndex && { ...found.pick(['example.com/label-7']) }).toEqual({
      'example.com/label-7': 'again',
    });
  });

  it.each<[string, unknown]>([
    ['escapes', '"'],
    ['what is no text', null],
  ])('those with %s are parsed', (_, value) => {
    const labels = { ...many(4_000), last: value };
    expect(labelsOf(bodyOf({ metadata: { labels } }))).toEqual(labels);
  });

  it('no text of them is made before a selector names it', () => {
    const body = bodyOf({ metadata: { labels: many(4_000) } });
    const made = jest.spyOn(body, 'toString');
    const found = labelsOf(body);
    if (found instanceof LabelIndex) found.pick(['example.com/label-7', 'example.com/label-9', 'example.com/none']);
    expect(made).toHaveBeenCalledTimes(2);
  });
});
