import { COMMA } from '../../api/codec/json-bytes';
import { JsonPieces, MalformedJsonError, TooManyValuesError } from '../../api/codec/json-pieces';
import { JsonSyntaxError, parseJson } from '../../api/codec/json-syntax';
import { YamlSyntaxError } from '../../api/codec/yaml-syntax-error';
import type { MaybePromise } from '../../api/maybe-promise';
import { serviceUnavailable, tooLarge } from '../../api/errors/status-error';
import { inTurns, Turn } from '../../async/turn';
import { beginWork } from '../../async/loop-work';
import type { TextResult, TextJob } from '../../worker/text-jobs';
import { TextJobRefused, type TextWorker } from '../../worker/text-worker';
import { ClientGoneError, type RequestContext } from './context';
import { outOfRoom, shuttingDown } from '../response/refusals';

const NEWLINE = 0x0a;
/** From here on a body is worked on in turns. */
export const LARGE_BODY_BYTES = 64 * 1024;
/** YAML costs several times as much, and a message of Protobuf may be two bytes. */
const LARGE_BYTES = { json: LARGE_BODY_BYTES, yaml: 24 * 1024, protobuf: 16 * 1024 } as const;
/** However few bytes they have: the steps of a write take some ten microseconds for each. */
const LARGE_VALUES = 1_000;
/**
 * Values of a body: lists, maps and what they hold. An object as large as a store takes (1.5 MiB) has fewer, unless its values
 * have less than fifteen bytes each with their names: Endpoints of that size have 60,000. The steps of a write that are not
 * cut take some microseconds for each.
 */
export const MAX_BODY_VALUES = 100_000;
/**
 * Values of `metadata.managedFields`, which are not the client's doing: an object that it read may be written back. Each field of
 * an object has a comma and a map there for each of its owners; in the 1.5 MiB that a store takes there is no room for more.
 */
export const MAX_OWNERSHIP_VALUES = 400_000;
const OWNERSHIP = { map: 'metadata', list: 'managedFields', maxValues: MAX_OWNERSHIP_VALUES };
/** Some tenths of a millisecond. */
const PIECE_BYTES = 32 * 1024;

const MALFORMED = Symbol('malformed');

/** What a text says. */
export interface TextReading {
  readonly value: unknown;
  /** Of JSON: the paths of fields that are named twice. Of YAML: sentences about them. Empty unless asked for. */
  readonly duplicates: readonly string[];
}

/** Bodies that are too large to be worked on at one stretch. */
export class LargeBodies {
  constructor(private readonly worker: TextWorker) {}

  isLarge(body: Buffer, format: 'json' | 'yaml' | 'protobuf'): boolean {
    if (body.length > LARGE_BYTES[format]) return true;
    return format !== 'protobuf' && body.length > LARGE_VALUES && hasManyValues(body);
  }

  /** Waits until a body may be worked on. From then on the request gives way between its steps. Throws a 429. */
  async begin(context: RequestContext, body: Buffer): Promise<void> {
    await context.acquirePlace(body.length, body.length);
  }

  /** Throws a {@link JsonSyntaxError}, and StatusErrors for what exceeds limits. */
  async readJson(context: RequestContext, body: Buffer, wantsDuplicates: boolean): Promise<TextReading> {
    const value = await this.parsePieces(context, body);
    if (value === MALFORMED) return { value: await this.explain(context, body), duplicates: [] };
    return { value, duplicates: wantsDuplicates ? await this.duplicatesOfJson(context, body) : [] };
  }

  /** Throws a {@link YamlSyntaxError}, and StatusErrors for what exceeds limits. */
  async readYaml(context: RequestContext, body: Buffer, wantsDuplicates: boolean): Promise<TextReading> {
    if (/^\s*\{/.test(body.toString('latin1', 0, 1024))) {
      const value = await this.parsePieces(context, body);
      const isJson = value !== MALFORMED;
      // Those of JSON have to be told of as YAML's are.
      const repeats = isJson && wantsDuplicates && (await this.duplicatesOfJson(context, body)).length > 0;
      if (isJson && !repeats) return { value, duplicates: [] };
    }
    const { bytes, problem = '', duplicates = [] } = await this.run(context, { kind: 'yamlToJson', bytes: body });
    if (bytes === undefined) throw new YamlSyntaxError(problem.replace(/^yaml: /, ''));
    const json = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return { value: await this.parsePieces(context, json), duplicates };
  }

  /** The YAML of a JSON text, for an answer. Throws 429 and 503 StatusErrors. */
  async printYaml(context: RequestContext, json: Uint8Array): Promise<Buffer> {
    try {
      const { bytes } = await this.worker.run(
        context.user?.name ?? '',
        { kind: 'jsonToYaml', bytes: json },
        context.signal,
      );
      beginWork(context);
      if (bytes === undefined) throw new Error('an object has no YAML');
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    } catch (error) {
      if (!(error instanceof TextJobRefused)) throw error;
      if (error.reason === 'busy' || error.reason === 'stopped') throw refusal(error, this.worker);
      throw serviceUnavailable('the object is too large to be shown as YAML; as JSON it is not');
    }
  }

  private async parsePieces(context: RequestContext, json: Buffer): Promise<unknown> {
    const pieces = new JsonPieces(json, { maxValues: MAX_BODY_VALUES, apart: OWNERSHIP, pieceBytes: PIECE_BYTES });
    try {
      await inTurns(() => {
        beginWork(context);
        return pieces.advance();
      }, new Turn(context));
    } catch (error) {
      if (error instanceof MalformedJsonError) return MALFORMED;
      throw error instanceof TooManyValuesError ? tooLarge(`Request entity too large: ${error.message}`) : error;
    }
    await nextTurn(context);
    return pieces.value;
  }

  private async duplicatesOfJson(context: RequestContext, body: Buffer): Promise<readonly string[]> {
    return (await this.run(context, { kind: 'inspectJson', bytes: body })).duplicates ?? [];
  }

  /** Throws what is wrong with a text that is no JSON. */
  private async explain(context: RequestContext, body: Buffer): Promise<unknown> {
    const { problem } = await this.run(context, { kind: 'inspectJson', bytes: body });
    if (problem !== undefined) throw new JsonSyntaxError(problem);
    // The platform takes for JSON what the pieces were not.
    return parseJson(body.toString());
  }

  private async run(context: RequestContext, job: TextJob): Promise<TextResult> {
    try {
      const response = await this.worker.run(context.user?.name ?? '', job, context.signal);
      beginWork(context);
      return response;
    } catch (error) {
      throw error instanceof TextJobRefused ? refusal(error, this.worker) : error;
    }
  }
}

/** Commas and lines: each may stand for a value. */
function hasManyValues(body: Buffer): boolean {
  let values = 0;
  for (let index = 0; index < body.length; index += 1) {
    const byte = body[index];
    if ((byte === COMMA || byte === NEWLINE) && ++values > LARGE_VALUES) return true;
  }
  return false;
}

function refusal({ reason }: TextJobRefused, { limits }: TextWorker): Error {
  switch (reason) {
    case 'time':
      return tooLarge(
        `Request entity too large: reading it takes more than ${limits.jobTimeoutMs / 1000} s of processor time`,
      );
    case 'memory':
      return tooLarge(`Request entity too large: reading it takes more than ${limits.heapMegabytes} MiB of memory`);
    case 'busy':
      return outOfRoom('large requests');
    case 'stopped':
      return shuttingDown();
  }
}

/** Lets others have their turn. Throws when the client is gone or the time is over. */
export async function nextTurn(context: RequestContext): Promise<void> {
  await new Turn(context).next();
  if (context.finished) throw new ClientGoneError();
}

/** Takes a step of a request's work; for one with a large body, when others have had their turn. */
export function inItsTurn<T>(context: RequestContext, step: () => MaybePromise<T>): MaybePromise<T> {
  return context.givesWay ? nextTurn(context).then(step) : step();
}
