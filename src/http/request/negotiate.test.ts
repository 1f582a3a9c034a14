import fc from 'fast-check';
import { StatusError } from '../../api/errors/status-error';
import {
  BUILT_IN,
  BUILT_IN_PLAIN,
  CUSTOM,
  JSON_ONLY,
  negotiate,
  negotiateError,
  wantsPretty,
  type Negotiable,
} from './negotiate';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

function respond(accept: string | undefined, negotiable: Negotiable = BUILT_IN): string {
  try {
    const { format, transform } = negotiate(accept, negotiable);
    return transform === undefined ? format : `${format} ${transform.kind} ${transform.apiVersion}`;
  } catch (error) {
    return error instanceof StatusError ? `${error.status.code} ${error.message}` : 'another error';
  }
}

const NOTHING_DECLARED = '406 406: Not Acceptable';
const NOTHING_SERVED = `406 only the following media types are accepted: application/json, application/yaml, ${PROTOBUF}`;

describe('negotiate', () => {
  it.each([
    ['application/yaml,' + 'a/b,'.repeat(100_000), 'yaml'],
    ['a/b,'.repeat(1_000) + 'application/yaml', 'yaml'],
    ['a/b,'.repeat(100_000) + 'application/yaml', NOTHING_DECLARED],
    ['a'.repeat(100_000), NOTHING_DECLARED],
  ])('reads the first four kilobytes: %.20s', (accept, response) => {
    expect(respond(accept)).toBe(response);
  });

  it('prefers by weight in time that is bounded', () => {
    const weights = Array.from(
      { length: 20_000 },
      (_, index) => `application/json;q=0.${String(index).padStart(5, '0')}`,
    );
    const seen = jest.spyOn(Array.prototype, 'splice');
    respond(weights.join());
    const { length } = seen.mock.calls;
    seen.mockRestore();
    expect(length).toBeGreaterThan(50);
    expect(length).toBeLessThan(500);
  });

  it.each([
    [undefined, 'json'],
    ['', 'json'],
    ['*/*', 'json'],
    ['application/json', 'json'],
    ['application/json;charset=utf-8', 'json'],
    ['application/json;stream=watch', 'json'],
    ['application/yaml;stream=watch,application/json;stream=', 'json'],
    ['application/json;q=0', 'json'],
    ['application/json;q=2', 'json'],
    ['text/html,*/*;q=0.8', 'json'],
    ['application/yaml', 'yaml'],
    [`application/json;q=0.1,${PROTOBUF};q=0.9`, 'protobuf'],
    [`${PROTOBUF};q=0.1,application/json;q=0.9`, 'json'],
    [`${PROTOBUF},application/json`, 'protobuf'],
    [`application/json,${PROTOBUF}`, 'json'],
    [`*/*;q=0.9,${PROTOBUF};q=0.1`, 'protobuf'],
    [`*/*,application/yaml;q=0.5`, 'yaml'],
    [`application/*,${PROTOBUF}`, 'protobuf'],
    [`${PROTOBUF};q=x,application/json;q=0.1`, 'json'],
    [`${PROTOBUF};q= 0.9,application/json;q=0.1`, 'json'],
    [`${PROTOBUF};q=x`, 'protobuf'],
    ['*/*,*', 'json'],
    ['application/json;stream=other', NOTHING_SERVED],
    ['application/yaml;stream=watch', NOTHING_SERVED],
    ['application/json;stream=other,application/yaml', 'yaml'],
    ['application/json;sv=v1', 'json'],
    ['application/json;sv=v2', NOTHING_SERVED],
    ['application/json;export=1;other', 'json'],
    ['application/json/x,application/json', 'json'],
    [TABLE, 'json Table meta.k8s.io/v1'],
    [`${TABLE};x=y`, 'json Table meta.k8s.io/v1'],
    [`${TABLE},application/json`, 'json Table meta.k8s.io/v1'],
    [`application/json,${TABLE}`, 'json'],
    [`application/json;as=Table;v=v9;g=meta.k8s.io,${TABLE}`, 'json Table meta.k8s.io/v1'],
    ['application/json;as=Table;v=v9;g=meta.k8s.io,application/json', 'json'],
    [`${TABLE};q=0.1,application/json;q=0.9`, 'json'],
    [`${PROTOBUF};as=PartialObjectMetadata;v=v1;g=meta.k8s.io`, 'protobuf PartialObjectMetadata meta.k8s.io/v1'],
    [`${PROTOBUF};as=Table;v=v1;g=meta.k8s.io`, NOTHING_SERVED],
    ['application/json;as=Table', NOTHING_SERVED],
    ['application/json;as=Unknown;v=v1;g=meta.k8s.io', NOTHING_SERVED],
    ['application/*', NOTHING_DECLARED],
    ['text/html', NOTHING_DECLARED],
    ['APPLICATION/JSON', NOTHING_DECLARED],
    ['garbage', NOTHING_DECLARED],
  ])('answers %s with %s', (accept, expected) => {
    expect(respond(accept)).toBe(expected);
  });

  it('offers no transform where there is nothing to transform', () => {
    expect(respond(TABLE, BUILT_IN_PLAIN)).toBe(NOTHING_SERVED);
  });

  it('has one format where there is one', () => {
    expect(respond('*/*', JSON_ONLY)).toBe('json');
    expect(respond('application/yaml,application/json', JSON_ONLY)).toBe('json');
    expect(respond(PROTOBUF, JSON_ONLY)).toBe(NOTHING_DECLARED);
  });

  it('has no protobuf for custom resources', () => {
    expect(respond(PROTOBUF, CUSTOM)).toBe(
      '406 only the following media types are accepted: application/json, application/yaml',
    );
    expect(respond(`${PROTOBUF},*/*`, CUSTOM)).toBe('json');
  });

  it('answers errors in JSON when nothing fits', () => {
    expect(negotiateError('text/html').format).toBe('json');
    expect(negotiateError(PROTOBUF).format).toBe('protobuf');
    expect(negotiateError(TABLE).format).toBe('json');
  });

  it('takes any header without another error than 406', () => {
    fc.assert(fc.property(fc.string(), (accept) => expect(respond(accept)).not.toBe('another error')));
  });
});

describe('wantsPretty', () => {
  it.each([
    ['true', undefined, true],
    ['1', 'kubectl', true],
    ['false', 'curl/7', false],
    [undefined, 'curl/7', true],
    ['', 'Mozilla/5.0 (X11)', true],
    [undefined, 'kubectl/1', false],
    ['yes', 'curl/7', false],
  ])('pretty=%s from %s is %s', (pretty, agent, expected) => {
    expect(wantsPretty(pretty, agent)).toBe(expected);
  });
});
