import fc from 'fast-check';
import { labelsOf, NO_LABELS } from './body-labels';

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
