import { turnToBegin } from '../../async/turn';
import { forbiddenField, invalid, type FieldError } from '../../api/errors/field-error';
import { badRequest, internalError, invalidObject, StatusError } from '../../api/errors/status-error';
import { serverResponse } from '../../api/errors/server-response';
import { askKubelet } from '../../kubelet/ask-kubelet';
import { originOf, type Backend } from '../../kubelet/backend';
import { BackendFailure } from '../../kubelet/backend-failure';
import { kubeletPath, type Parameters } from '../../kubelet/kubelet-paths';
import { endSoonWith, firstText, lastAsStream, relayBody } from '../proxy/relay-body';
import type { RequestContext } from '../request/context';
import { optionsFromQuery } from '../request/query-options';
import { sendWarnings } from '../response/response-writer';
import { writeHead } from '../response/response-head';
import type { Endpoint, EndpointDependencies } from './endpoint';
import { containerOf, kubeletOf, nodeNameOf } from './pod-container';
import { readObject } from './read-object';
import { scopeOf } from './resource-request';

/** The wire's PodLogOptions, v1. */
interface LogOptions {
  readonly container?: string;
  readonly follow?: boolean;
  readonly previous?: boolean;
  readonly timestamps?: boolean;
  readonly insecureSkipTLSVerifyBackend?: boolean;
  readonly sinceSeconds?: number;
  readonly sinceTime?: string;
  readonly tailLines?: number;
  readonly limitBytes?: number;
}

const LOG_OPTIONS = { group: '', version: 'v1', kind: 'PodLogOptions' };

/** `GET pods/{name}/log`. A pod that runs nowhere yet has no log. */
export const podLog: Endpoint = async (request, dependencies) => {
  const { context } = request;
  const { info } = context;
  const options: LogOptions = optionsFromQuery(info.query, LOG_OPTIONS, dependencies.catalogue.schema);
  const errors = problemsOf(options);
  if (errors.length > 0) throw invalidObject(LOG_OPTIONS, info.name, errors);
  const pod = await readObject(request.registry, scopeOf(request), info.name, context);
  const container = containerOf(pod, options.container ?? '');
  const node = nodeNameOf(pod);
  if (node === '') return { type: 'empty', code: 204 };
  const verified = await kubeletOf(node, 'pods', request, dependencies);
  const kubelet: Backend = options.insecureSkipTLSVerifyBackend
    ? { ...verified, trust: 'kubelet-unverified' }
    : verified;
  const path = kubeletPath(['containerLogs', info.namespace, info.name, container], parametersOf(options));
  await streamLog(context, kubelet, path, options.follow === true, dependencies);
  return { type: 'streamed' };
};

function parametersOf({
  follow,
  previous,
  timestamps,
  sinceSeconds,
  sinceTime,
  tailLines,
  limitBytes,
}: LogOptions): Parameters {
  const flags = Object.entries({ follow, previous, timestamps }).filter(([, isOn]) => isOn === true);
  const values = Object.entries({ sinceSeconds, sinceTime, tailLines, limitBytes });
  return [
    ...flags.map(([name]) => [name, 'true'] as const),
    ...values.flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const])),
  ];
}

/** What is read of a refusal. */
const MAX_REFUSAL_BYTES = 10_000;

/** The lines as the kubelet sends them, to the end of the log or for as long as the client follows it. */
async function streamLog(
  context: RequestContext,
  kubelet: Backend,
  path: string,
  isFollowed: boolean,
  { backends, closing }: EndpointDependencies,
): Promise<void> {
  const { response } = context;
  // Of a container that is silent the kubelet sends no head either.
  endSoonWith(closing, context);
  const request = { path, isEndless: isFollowed };
  const { statusCode, location, body } = await askKubelet(backends, kubelet, request, context).catch(
    (error: unknown) => {
      throw error instanceof BackendFailure ? failure(`${originOf(kubelet)}${path}`, error.message) : error;
    },
  );
  if (statusCode >= 301 && statusCode <= 308 && location !== undefined) {
    body.destroy();
    throw failure(location, 'redirects forbidden');
  }
  if (statusCode < 200 || statusCode > 206) {
    throw refusal(statusCode, context, await firstText(body, MAX_REFUSAL_BYTES));
  }
  context.statusCode = 200;
  sendWarnings(context);
  writeHead(response, 200, { 'Content-Type': 'text/plain' });
  response.flushHeaders();
  lastAsStream(closing, context, () => body.destroy());
  const end = await relayBody(body, context);
  // With a connection that breaks, a hundred logs end at once.
  await turnToBegin(context);
  // A log that breaks off ends like any other: its reader has the lines that there are.
  if (end !== 'client gone') response.end();
}

function failure(url: string, message: string): StatusError {
  return new StatusError(500, undefined, `Get ${JSON.stringify(url)}: ${message}`);
}

function refusal(code: number, { info }: RequestContext, text: string): StatusError {
  if (code === 500) return internalError(text);
  if (code === 400) return badRequest(text);
  return serverResponse(code, { group: '', resource: 'pods/log' }, info.name, text);
}

function problemsOf({ tailLines, limitBytes, sinceSeconds, sinceTime }: LogOptions): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (tailLines !== undefined && tailLines < 0) {
    errors.push(invalid('tailLines', tailLines, 'must be greater than or equal to 0'));
  }
  if (limitBytes !== undefined && limitBytes < 1)
    errors.push(invalid('limitBytes', limitBytes, 'must be greater than 0'));
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    errors.push(forbiddenField('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else if (sinceSeconds !== undefined && sinceSeconds < 1) {
    errors.push(invalid('sinceSeconds', sinceSeconds, 'must be greater than 0'));
  }
  return errors;
}
