import { randomUUID } from 'node:crypto';
import { JsonPieces, MalformedJsonError } from '../api/codec/json-pieces';
import {
  printConversionReview,
  printConvertedInParts,
  readConversionReview,
  reviewVersionOf,
} from '../api/custom/conversion-review';
import { checkedConversion, groupVersionKindText } from '../api/custom/converted-object';
import { StatusError } from '../api/errors/status-error';
import type { KubeObject } from '../api/object';
import { Places } from '../async/places';
import { stepsInTurns } from '../async/steps';
import { Turn } from '../async/turn';
import type { WebhookTarget } from '../api/webhook-target';

/** One question to a conversion webhook. */
export interface ConversionCall {
  readonly target: WebhookTarget;
  /** JSON, in pieces. */
  readonly body: readonly Uint8Array[];
  readonly timeoutMs: number;
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

/** Sends a review and resolves to the answer's body. Rejects, with words for the client, when there is none. */
export type CallConversionWebhook = (call: ConversionCall) => Promise<Buffer>;

const TIMEOUT_MS = 30_000;
/** For all calls that a list takes: nobody waits for one longer. */
const TIMEOUT_OF_ALL_MS = 120_000;
/** Of one webhook, at once: an answer is some megabytes that count for no request, and who asked may have gone. */
const MAX_CALLS = 32;
/** Of the JSON of the objects of one call. An answer may be some times as long. */
const BATCH_BYTES = 1024 * 1024;
/** Lists, maps and what they hold, in an answer. */
const PIECES = { maxValues: 2_000_000, pieceBytes: 32 * 1024 };

/** What a definition says of its webhook (`spec.conversion.webhook`). */
export interface ConversionSettings {
  readonly target: WebhookTarget;
  readonly reviewVersions: readonly string[];
}

/** The conversion of some objects. */
interface Converting {
  readonly apiVersion: string;
  readonly turn: Turn;
  /** Milliseconds of the monotonic clock. */
  readonly endsAt: number;
}

/** Asks the webhook of a definition. Rejects with a StatusError in kube-apiserver's words. */
export class ConversionWebhook {
  private readonly places = new Places(MAX_CALLS);

  constructor(
    private readonly settings: ConversionSettings,
    private readonly call: CallConversionWebhook,
    /** Conversions are not needed any more. */
    private readonly signal: AbortSignal,
  ) {}

  /** The objects, which are of one version, in another one. In as few calls as their size allows. */
  async convert(objects: readonly KubeObject[], apiVersion: string): Promise<readonly KubeObject[]> {
    const turn = new Turn('converting custom resources');
    const converting = { apiVersion, turn, endsAt: performance.now() + TIMEOUT_OF_ALL_MS };
    const converted: KubeObject[] = [];
    try {
      for (let next = 0; next < objects.length;) {
        const printed: Buffer[] = [];
        let bytes = 0;
        while (next + printed.length < objects.length && (printed.length === 0 || bytes < BATCH_BYTES)) {
          const one = await stepsInTurns(printConvertedInParts(objects[next + printed.length]!), turn);
          printed.push(one);
          bytes += one.length;
          if (turn.isOver) await turn.next();
        }
        const batch = objects.slice(next, next + printed.length);
        converted.push(...(await this.batch(batch, printed, converting)));
        next += printed.length;
      }
    } catch (error) {
      throw new StatusError(500, undefined, (error as Error).message);
    }
    return converted;
  }

  private async batch(
    objects: readonly KubeObject[],
    printed: readonly Buffer[],
    converting: Converting,
  ): Promise<readonly KubeObject[]> {
    const [first] = objects;
    if (first === undefined) return [];
    const { apiVersion, turn } = converting;
    const answered = await this.ask(printed, first, converting);
    if (answered.length !== objects.length) {
      // kube-apiserver sends one object at a time: some webhooks know no more.
      if (objects.length > 1) return this.oneByOne(objects, printed, converting);
      throw new Error(
        `conversion webhook for ${groupVersionKindText(first)} returned ${answered.length} objects, expected 1`,
      );
    }
    const converted: KubeObject[] = [];
    for (const [index, object] of objects.entries()) {
      converted.push(checkedConversion(object, answered[index], apiVersion));
      if (turn.isOver) await turn.next();
    }
    return converted;
  }

  private async oneByOne(
    objects: readonly KubeObject[],
    printed: readonly Buffer[],
    converting: Converting,
  ): Promise<readonly KubeObject[]> {
    const converted: KubeObject[] = [];
    for (const [index, object] of objects.entries()) {
      converted.push(...(await this.batch([object], printed.slice(index, index + 1), converting)));
    }
    return converted;
  }

  private async ask(
    printed: readonly Buffer[],
    first: KubeObject,
    { apiVersion, turn, endsAt }: Converting,
  ): Promise<readonly unknown[]> {
    const { target, reviewVersions } = this.settings;
    const version = reviewVersionOf(reviewVersions);
    if (version === undefined) throw new Error('no supported conversion review versions');
    const question = { uid: randomUUID(), version, desiredAPIVersion: apiVersion };
    const callEndsAt = Math.min(performance.now() + TIMEOUT_MS, endsAt);
    const left = (): number => Math.max(callEndsAt - performance.now(), 0);
    try {
      if (!(await this.places.acquire(left()))) throw new Error('context deadline exceeded');
      try {
        const response = await this.call({
          target,
          body: printConversionReview(question, printed),
          timeoutMs: left(),
          timeoutSeconds: TIMEOUT_MS / 1000,
          signal: this.signal,
        });
        turn.restart();
        return readConversionReview(await readJson(response, turn), question);
      } finally {
        this.places.release();
      }
    } catch (error) {
      throw new Error(`conversion webhook for ${groupVersionKindText(first)} failed: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
}

async function readJson(bytes: Buffer, turn: Turn): Promise<unknown> {
  try {
    return await stepsInTurns(new JsonPieces(bytes, PIECES).steps(), turn);
  } catch (error) {
    if (!(error instanceof MalformedJsonError)) throw error;
    throw new Error("couldn't get version/kind; json parse error: the answer is no JSON", { cause: error });
  }
}
