import { StatusError } from '../../api/errors/status-error';
import type { ServedResource } from '../../resources/served-resource';
import { parseCollectionOptions } from './list-options';
import { parseRequestInfo } from './request-info';

const configMaps = {
  definition: { selectableFields: {} },
  version: {},
  custom: false,
} as unknown as ServedResource;

function messageOf(query: string): string {
  try {
    parseCollectionOptions(parseRequestInfo('GET', `/api/v1/configmaps?${query}`), configMaps);
    return '';
  } catch (error) {
    return error instanceof StatusError ? `${error.status.code} ${error.message}` : String(error);
  }
}

const INVALID = '422 ListOptions.meta.k8s.io "" is invalid: ';

describe('parseCollectionOptions', () => {
  it.each([
    ['limit=x', '400 strconv.ParseInt: parsing "x": invalid syntax'],
    ['limit=%00%ff', '400 strconv.ParseInt: parsing "\\x00\ufffd": invalid syntax'],
    ['limit=', '400 strconv.ParseInt: parsing "": invalid syntax'],
    ['limit=99999999999999999999', '400 strconv.ParseInt: parsing "99999999999999999999": value out of range'],
    ['timeoutSeconds=x&labelSelector=a%20b', '400 strconv.ParseInt: parsing "x": invalid syntax'],
    ['limit=-1', ''],
    [
      'resourceVersionMatch=Exact',
      `${INVALID}resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided`,
    ],
    [
      'resourceVersionMatch=Bogus&resourceVersion=1',
      `${INVALID}resourceVersionMatch: Unsupported value: "Bogus": supported values: "Exact", "NotOlderThan", ""`,
    ],
    [
      'resourceVersionMatch=Exact&resourceVersion=0',
      `${INVALID}resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"`,
    ],
    [
      'watch=1&resourceVersionMatch=Exact&resourceVersion=1',
      `${INVALID}resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch`,
    ],
    ['watch=1&resourceVersionMatch=NotOlderThan&sendInitialEvents=true', ''],
    [
      'fieldSelector=nosuch%3Dx',
      '400 "nosuch" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ],
  ])('%s gives "%s"', (query, message) => {
    expect(messageOf(query)).toBe(message);
  });

  it('lets a kind say in its own words which labels it does not know', () => {
    const jobs = {
      ...configMaps,
      definition: { selectableFields: {}, unknownFieldLabel: (label: string) => `no ${label} here` },
    } as unknown as ServedResource;
    const info = parseRequestInfo('GET', '/apis/batch/v1/jobs?fieldSelector=status.active%3D1');
    expect(() => parseCollectionOptions(info, jobs)).toThrow('no status.active here');
  });

  it('finds the field whose one value a selector asks for', () => {
    const pods = {
      ...configMaps,
      definition: {
        selectableFields: { 'spec.nodeName': () => 'n1', 'status.phase': () => 'Running' },
        indexedField: 'spec.nodeName',
      },
    } as unknown as ServedResource;
    const fieldOf = (selector: string): unknown => {
      const info = parseRequestInfo('GET', `/api/v1/pods?fieldSelector=${encodeURIComponent(selector)}`);
      return parseCollectionOptions(info, pods).list.selection?.field;
    };
    expect(fieldOf('status.phase!=Failed,spec.nodeName=n2')).toMatchObject({ label: 'spec.nodeName', value: 'n2' });
    expect(fieldOf('status.phase=Running,spec.nodeName=n2,status.phase=Failed')).toMatchObject({
      label: 'spec.nodeName',
      isIndexed: true,
    });
    expect(fieldOf('status.phase=Running')).toMatchObject({ label: 'status.phase', isIndexed: false });
    expect(fieldOf('spec.nodeName=')).toMatchObject({ label: 'spec.nodeName', value: '' });
    expect(fieldOf('status.phase!=Failed')).toBeUndefined();
    expect(fieldOf('metadata.name=a')).toBeUndefined();
  });

  it('takes the name of a watch path as a selector', () => {
    const options = parseCollectionOptions(
      parseRequestInfo('GET', '/api/v1/watch/namespaces/a/configmaps/c'),
      configMaps,
    );
    expect(options.list.selection?.name).toBe('c');
    for (const selector of ['metadata.name=d', 'metadata.name!=c', 'metadata.namespace=a']) {
      expect(() =>
        parseCollectionOptions(
          parseRequestInfo(
            'GET',
            `/api/v1/watch/namespaces/a/configmaps/c?fieldSelector=${encodeURIComponent(selector)}`,
          ),
          configMaps,
        ),
      ).toThrow("fieldSelector metadata.name doesn't match requested name");
    }
  });

  it('checks a watch path as the list that it is without its prefix', () => {
    const options = (query: string) =>
      parseCollectionOptions(parseRequestInfo('GET', `/api/v1/watch/configmaps?${query}`), configMaps);
    expect(options('resourceVersion=5&resourceVersionMatch=Exact').list).toEqual({
      resourceVersion: '5',
      resourceVersionMatch: 'Exact',
    });
    expect(options('sendInitialEvents=true&resourceVersionMatch=NotOlderThan').sendInitialEvents).toBe(true);
  });
});
