import { CONFIG_MAPS, withConfigMap } from './config-maps';
import { type RequestSubject, names, subject } from './request-subject';

export const HEADERS: Readonly<Record<string, RequestSubject>> = {
  'media types that are accepted': subject(200, 'GET', (count) => ({
    path: '/api/v1/namespaces/default',
    headers: { accept: [...names(count).map((name) => `text/${name};q=0.5`), 'application/json'].join() },
  })),
  'encodings that are accepted': subject(200, 'GET', (count) => ({
    path: '/api/v1/namespaces/default',
    headers: { 'accept-encoding': names(count).join() },
  })),
  'groups that are impersonated': subject(
    200,
    'GET',
    (count) => ({
      path: '/api/v1/namespaces/default',
      headers: { 'impersonate-user': 'admin', 'impersonate-group': [...names(count), 'system:masters'] },
    }),
    undefined,
    { smallest: 4, doublings: 6 },
  ),
  'extra values that are impersonated': subject(
    200,
    'GET',
    (count) => ({
      path: '/api/v1/namespaces/default',
      headers: {
        'impersonate-user': 'admin',
        'impersonate-group': 'system:masters',
        ...Object.fromEntries(names(count).map((name) => [`impersonate-extra-${name}`, name])),
      },
    }),
    undefined,
    { smallest: 4, doublings: 6 },
  ),
  'parameters of a query': subject(200, 'GET', (count) => ({
    path: `/api/v1/namespaces/default?${names(count).join('&')}`,
  })),
  'parts of a path': subject(404, 'GET', (count) => ({ path: `/apis/${names(count).join('/')}` })),
  'terms of a label selector': subject(
    200,
    'GET',
    (count) => ({
      path: `${CONFIG_MAPS}?labelSelector=${names(count)
        .map((name) => `!${name}`)
        .join()}`,
    }),
    withConfigMap,
  ),
  'values of a label selector': subject(
    200,
    'GET',
    (count) => ({
      path: `${CONFIG_MAPS}?labelSelector=${encodeURIComponent(`a in (${names(count).join()})`)}`,
    }),
    withConfigMap,
  ),
  'terms of a field selector': subject(
    200,
    'GET',
    (count) => ({
      path: `${CONFIG_MAPS}?fieldSelector=${names(count)
        .map((name) => `metadata.name!=${name}`)
        .join()}`,
    }),
    withConfigMap,
  ),
};
