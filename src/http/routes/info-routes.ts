import type { NonResourceRoute } from './route';
import { JSON_ONLY, negotiate } from '../request/negotiate';

/** `/version`: indented, without a newline at its end, as clients know it. Not an API object: there is only JSON. */
export function versionRoute(info: Readonly<Record<string, string>>): NonResourceRoute {
  const body = JSON.stringify(info, undefined, 2);
  return {
    path: '/version',
    handler: ({ request }) => {
      negotiate(request.headers.accept, JSON_ONLY);
      return { type: 'bytes', code: 200, contentType: 'application/json', body };
    },
  };
}

/** `/metrics`, and metrics on paths of their own, in Prometheus' text form. */
export function metricsRoute(print: () => Promise<string | Buffer>, path = '/metrics'): NonResourceRoute {
  return {
    path,
    // The path has never looked at the method.
    methods: 'any',
    handler: async () => ({
      type: 'bytes',
      code: 200,
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
      body: await print(),
    }),
  };
}
