import { quoteGo } from '../errors/go-quote';
import { stringifyExact } from '../codec/exact-json';
import { printJson } from '../codec/json-print';
import type { KubeObject } from '../object';
import { isLarge, type Steps } from '../parts';

/** ConversionReview of apiextensions.k8s.io: what a conversion webhook is asked, and what it may answer. */

export type ConversionReviewVersion = 'v1' | 'v1beta1';

const VERSIONS: readonly string[] = ['v1', 'v1beta1'] satisfies readonly ConversionReviewVersion[];

/** The first of those that a webhook understands that this server knows. */
export function reviewVersionOf(accepted: readonly string[]): ConversionReviewVersion | undefined {
  return accepted.find((version): version is ConversionReviewVersion => VERSIONS.includes(version));
}

export interface ConversionQuestion {
  readonly uid: string;
  readonly version: ConversionReviewVersion;
  readonly desiredAPIVersion: string;
}

function reviewApiVersion(version: ConversionReviewVersion): string {
  return `apiextensions.k8s.io/${version}`;
}

const END = Buffer.from(']},"response":{"uid":"","convertedObjects":null,"result":{"metadata":{}}}}');
const COMMA = Buffer.from(',');

/** The review in pieces; `objects` are printed already. */
export function printConversionReview(
  { uid, version, desiredAPIVersion }: ConversionQuestion,
  objects: readonly Buffer[],
): readonly Buffer[] {
  const request = `"request":{"uid":"${uid}","desiredAPIVersion":${JSON.stringify(desiredAPIVersion)},"objects":[`;
  return [
    Buffer.from(`{"kind":"ConversionReview","apiVersion":"${reviewApiVersion(version)}",${request}`),
    ...objects.flatMap((object, index) => (index === 0 ? [object] : [COMMA, object])),
    END,
  ];
}

/** The object as webhooks see it: without its resourceVersion, which is the store's. */
function sentForm({ kind, apiVersion, metadata, ...rest }: KubeObject) {
  const { resourceVersion: _revision, ...kept } = metadata;
  return { kind, apiVersion, metadata: kept, ...rest };
}

function printConverted(object: KubeObject): Buffer {
  return Buffer.from(stringifyExact(sentForm(object)));
}

/** The same, a part at a time for a large one. */
export function* printConvertedInParts(object: KubeObject): Steps<Buffer> {
  return isLarge(object) ? (yield* printJson(sentForm(object))).bytes : printConverted(object);
}

type Json = Readonly<Record<string, unknown>>;

function isMap(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/**
 * The objects of an answer. Throws an Error, with kube-apiserver's words, for what answers another question or says that it has failed. Of
 * v1beta1 neither kind nor uid are looked at, as they never were.
 */
export function readConversionReview(review: unknown, { uid, version }: ConversionQuestion): readonly unknown[] {
  if (!isMap(review)) throw new Error("couldn't get version/kind; json parse error: the answer is no map");
  const apiVersion = textOf(review['apiVersion']);
  const kind = textOf(review['kind']);
  const wanted = reviewApiVersion(version);
  if (kind !== '' && kind !== 'ConversionReview') {
    throw new Error(
      `no kind ${quoteGo(kind)} is registered for version ${quoteGo(apiVersion || wanted)} in scheme "conversion"`,
    );
  }
  if (apiVersion !== '' && apiVersion !== wanted) {
    const [got = apiVersion] = apiVersion.split('/').slice(-1);
    throw new Error(`converting (${got}.ConversionReview) to (${version}.ConversionReview): unknown conversion`);
  }
  if (version === 'v1' && (apiVersion === '' || kind === '')) {
    const found = `${apiVersion || '/'}, Kind=${kind}`;
    throw new Error(`expected webhook response of ${wanted}, Kind=ConversionReview, got ${found}`);
  }
  const { response } = review;
  if (!isMap(response)) throw new Error('no response provided');
  const answered = textOf(response['uid']);
  if (version === 'v1' && answered !== uid) {
    throw new Error(`expected response.uid=${quoteGo(uid)}, got ${quoteGo(answered)}`);
  }
  const result = isMap(response['result']) ? response['result'] : {};
  const status = textOf(result['status']);
  if (status !== 'Success') {
    throw new Error(textOf(result['message']) || `response.result.status was '${status}', not 'Success'`);
  }
  const converted = response['convertedObjects'] ?? [];
  if (!Array.isArray(converted)) throw new Error('response.convertedObjects is no list');
  return converted;
}
