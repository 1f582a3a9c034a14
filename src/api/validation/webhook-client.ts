import { invalid, required, tooLong, type FieldError } from '../errors/field-error';
import { checkEachPart } from './check-each';
import { dns1123SubdomainProblems } from './names';
import { portNumberProblems } from './ports';

/** Where webhooks of all sorts are reached: admission, conversion of custom resources. */
export interface WebhookClient {
  readonly url?: string | null;
  readonly service?: WebhookService | null;
}

export interface WebhookService {
  readonly namespace?: string;
  readonly name?: string;
  readonly path?: string | null;
  readonly port?: number | null;
}

const URL_FORM = '; desired format: https://host[/path]';
const DEFAULT_PORT = 443;
/** The platform looks for a host after further slashes. */
const HOSTLESS = /^[a-z][a-z0-9+.-]*:\/\/(?:[/?#]|$)/i;

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function validateUrl(text: string, field: string): readonly FieldError[] {
  const url = HOSTLESS.test(text) ? undefined : parseUrl(text);
  if (url === undefined) {
    const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1] ?? '';
    return [
      ...(scheme === 'https' ? [] : [invalid(field, scheme, `'https' is the only allowed URL scheme${URL_FORM}`)]),
      invalid(field, '', `host must be provided${URL_FORM}`),
    ];
  }
  const scheme = url.protocol.slice(0, -1);
  const user = url.password === '' ? url.username : `${url.username}:${url.password}`;
  return [
    ...(scheme === 'https' ? [] : [invalid(field, scheme, `'https' is the only allowed URL scheme${URL_FORM}`)]),
    ...(url.host === '' ? [invalid(field, '', `host must be provided${URL_FORM}`)] : []),
    ...(user === '' ? [] : [invalid(field, user, 'user information is not permitted in the URL')]),
    ...(url.hash === '' ? [] : [invalid(field, url.hash.slice(1), 'fragments are not permitted in the URL')]),
    ...(url.search === ''
      ? []
      : [invalid(field, url.search.slice(1), 'query parameters are not permitted in the URL')]),
  ];
}

/** No client sends more in a request line, and to take a longer one to pieces takes long. */
const MAX_PATH_LENGTH = 64 * 1024;

/** Segments are names of subdomains, so that no proxy changes the path. */
function validatePath(path: string, field: string): readonly FieldError[] {
  if (path === '' || path === '/') return [];
  if (path.length > MAX_PATH_LENGTH) return [tooLong(field, MAX_PATH_LENGTH)];
  if (path === '//') return [invalid(field, path, 'segment[0] may not be empty')];
  const inner = path.slice(1);
  const segments = (inner.endsWith('/') ? inner.slice(0, -1) : inner).split('/');
  return [
    ...(path.startsWith('/') ? [] : [invalid(field, path, "must start with a '/'")]),
    ...checkEachPart(segments, (segment, index) =>
      segment === ''
        ? [invalid(field, path, `segment[${index}] may not be empty`)]
        : dns1123SubdomainProblems(segment).map((problem) => invalid(field, path, `segment[${index}]: ${problem}`)),
    ),
  ];
}

function validateService({ name = '', namespace = '', path, port }: WebhookService, field: string) {
  const number = port ?? DEFAULT_PORT;
  const problems = portNumberProblems(number);
  return [
    ...(name === '' ? [required(`${field}.name`, 'service name is required')] : []),
    ...(namespace === '' ? [required(`${field}.namespace`, 'service namespace is required')] : []),
    ...(problems.length === 0 ? [] : [invalid(`${field}.port`, number, `port is not valid: ${problems.join(',')}`)]),
    ...validatePath(path ?? '', `${field}.path`),
  ];
}

/** A URL or a service, not both. */
export function validateWebhookClient({ url, service }: WebhookClient, path: string): readonly FieldError[] {
  const hasUrl = url !== undefined && url !== null;
  const hasService = service !== undefined && service !== null;
  if (hasUrl === hasService) return [required(path, 'exactly one of url or service is required')];
  if (hasUrl) return validateUrl(url, `${path}.url`);
  return hasService ? validateService(service, `${path}.service`) : [];
}
