import fc from 'fast-check';
import { StatusError } from '../../api/errors/status-error';
import { MalformedPathError, parseRequestInfo } from './request-info';

describe('parseRequestInfo', () => {
  const cases: readonly [method: string, url: string, expected: Record<string, unknown>][] = [
    ['GET', '/api/v1/pods', { verb: 'list', group: '', version: 'v1', resource: 'pods', namespace: '', name: '' }],
    ['GET', '/api/v1/namespaces/a/pods/p', { verb: 'get', namespace: 'a', resource: 'pods', name: 'p', named: true }],
    ['GET', '/api/v1/namespaces/a/pods/p/log', { verb: 'get', subresource: 'log', parts: ['pods', 'p', 'log'] }],
    ['GET', '/api/v1/namespaces/a', { verb: 'get', resource: 'namespaces', namespace: 'a', name: 'a' }],
    ['GET', '/api/v1/namespaces/a/', { verb: 'get', resource: 'namespaces', name: 'a' }],
    [
      'PUT',
      '/api/v1/namespaces/a/finalize',
      { verb: 'update', resource: 'namespaces', name: 'a', subresource: 'finalize' },
    ],
    ['GET', '/api/v1/namespaces', { verb: 'list', resource: 'namespaces', namespace: '' }],
    ['GET', '/api/v1/namespaces//pods', { verb: 'list', resource: 'pods', namespace: '' }],
    ['DELETE', '/apis/apps/v1/namespaces/a/deployments', { verb: 'deletecollection', group: 'apps' }],
    ['DELETE', '/apis/apps/v1/namespaces/a/deployments/d', { verb: 'delete', name: 'd' }],
    ['GET', '/apis/apps/v1/deployments?watch=F', { verb: 'watch' }],
    ['GET', '/apis/apps/v1/deployments?watch=', { verb: 'watch' }],
    ['GET', '/apis/apps/v1/deployments?watch=0', { verb: 'list' }],
    ['GET', '/apis/apps/v1/deployments?watch=False&watch=1', { verb: 'list' }],
    ['GET', '/api/v1/watch/namespaces/a/configmaps/c?watch=false', { verb: 'watch', watchPrefix: true, name: 'c' }],
    ['GET', '/api/v1/configmaps?fieldSelector=metadata.name%3Dx', { verb: 'list', name: 'x', named: false }],
    ['GET', '/api/v1/configmaps?fieldSelector=a%3Db%2Cmetadata.name%3D%3Dx', { name: 'x' }],
    ['GET', '/api/v1/configmaps?fieldSelector=metadata.name!%3Dx', { name: '' }],
    ['OPTIONS', '/api/v1/pods', { verb: '', resource: 'pods' }],
    ['GET', '/api/v1/namespaces/a/configmaps/%63%31', { name: 'c1' }],
    ['GET', '/api/v1/namespaces/a/configmaps/a%2Fb', { name: 'a', subresource: 'b' }],
    ['GET', '/api/v1', { isResourceRequest: false, verb: 'get' }],
    ['GET', '/apis/apps/v1', { isResourceRequest: false }],
    ['POST', '/healthz', { isResourceRequest: false, verb: 'post', path: '/healthz' }],
    ['GET', '/API/v1/pods', { isResourceRequest: false }],
    ['GET', 'https://host:1/api/v1/pods', { verb: 'list', resource: 'pods' }],
    ['OPTIONS', '*', { isResourceRequest: false, path: '/*' }],
  ];
  it.each(cases)('reads %s %s', (method, url, expected) => {
    expect(parseRequestInfo(method, url)).toMatchObject(expected);
  });

  it('refuses a path with a broken escape', () => {
    expect(() => parseRequestInfo('GET', '/api/v1/namespaces/a/configmaps/c1%')).toThrow(MalformedPathError);
  });

  it('refuses a watch prefix without a resource', () => {
    expect(() => parseRequestInfo('GET', '/api/v1/watch')).toThrow(StatusError);
  });

  it('answers any URL with a record or one of its two errors', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('GET', 'PUT', 'X'),
        fc.webUrl({ withQueryParameters: true }),
        fc.string(),
        (method, url, tail) => {
          try {
            expect(typeof parseRequestInfo(method, url.replace(/^https?:\/\/[^/]*/, '') + tail).verb).toBe('string');
          } catch (error) {
            expect(error instanceof MalformedPathError || error instanceof StatusError).toBe(true);
          }
        },
      ),
    );
  });
});
