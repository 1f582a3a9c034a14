import { ProfileInUseError, type ProcessProfiler } from '../../observability/profiler';
import { readBody } from '../request/body';
import type { RequestContext } from '../request/context';
import { textResponse, type ApiResponse } from '../response/api-response';
import type { NonResourceRoute } from './route';

export interface DebugRouteOptions {
  readonly profiler: Pick<ProcessProfiler, 'cpu' | 'heap'>;
  readonly setVerbosity: (verbosity: number) => void;
}

const DEFAULT_SECONDS = 30;
/** Left of the request's time for the answer. */
const SPARE_SECONDS = 2;
const MAX_BODY_BYTES = 64;
const MAX_VERBOSITY = 2_147_483_647;

const INDEX = `/debug/pprof/

profile?seconds=30  where processor time goes: a .cpuprofile for Chrome's developer tools
heap?seconds=30     what is allocated and stays: samples, as a .heapprofile; nothing is stopped for it
`;

/** `/debug/pprof` and `/debug/flags`, behind authorization like every path; profiles are in V8's formats. */
export function debugRoutes({ profiler, setVerbosity }: DebugRouteOptions): readonly NonResourceRoute[] {
  const index = (): ApiResponse => textResponse(200, INDEX);
  return [
    { path: '/debug/pprof', unlisted: true, handler: index },
    { path: '/debug/pprof/', unlisted: true, handler: index },
    {
      path: '/debug/pprof/profile',
      unlisted: true,
      handler: (context) => profile(context, 'CPU', 'cpuprofile', (...how) => profiler.cpu(...how)),
    },
    {
      path: '/debug/pprof/heap',
      unlisted: true,
      handler: (context) => profile(context, 'heap', 'heapprofile', (...how) => profiler.heap(...how)),
    },
    { path: '/debug/flags', unlisted: true, handler: () => textResponse(200, 'v\n') },
    {
      path: '/debug/flags/v',
      unlisted: true,
      methods: 'any',
      handler: (context) => putVerbosity(context, setVerbosity),
    },
  ];
}

async function profile(
  context: RequestContext,
  what: string,
  extension: string,
  take: (seconds: number, signal: AbortSignal) => Promise<string>,
): Promise<ApiResponse> {
  const text = context.info.query.first('seconds') ?? '';
  const seconds = text === '' ? DEFAULT_SECONDS : Number(text);
  if (!(seconds > 0))
    return textResponse(400, `Could not enable ${what} profiling: seconds must be a number above 0\n`);
  const most = context.timeLeftMs / 1000 - SPARE_SECONDS;
  if (text !== '' && seconds > most) {
    return textResponse(400, `profile duration exceeds server's request timeout\n`);
  }
  try {
    const body = await take(Math.min(seconds, most), context.signal);
    const headers = {
      'Content-Disposition': `attachment; filename="profile.${extension}"`,
      'X-Content-Type-Options': 'nosniff',
    };
    return { type: 'bytes', code: 200, contentType: 'application/json', body, headers };
  } catch (error) {
    if (!(error instanceof ProfileInUseError)) throw error;
    return textResponse(500, `Could not enable ${what} profiling: ${error.message}\n`);
  }
}

/** kube-apiserver's way to change `-v`: the number as the body of a PUT. */
async function putVerbosity(context: RequestContext, setVerbosity: (verbosity: number) => void): Promise<ApiResponse> {
  if (context.request.method !== 'PUT') return textResponse(406, 'unsupported http method\n');
  const text = (await readBody(context, MAX_BODY_BYTES)).toString('utf8').trim();
  if (!/^\d{1,10}$/.test(text) || Number(text) > MAX_VERBOSITY) {
    return textResponse(400, `failed set logging.verbosity ${text}: invalid syntax\n`);
  }
  setVerbosity(Number(text));
  return textResponse(200, `successfully set logging.verbosity to ${text}`);
}
