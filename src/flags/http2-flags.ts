import type { Http2Options } from '../http/server';
import type { FlagTable, OptionsOf } from './flag-table';

/** The flags about HTTP/2. */
export const http2Flags = {
  'disable-http2-serving': {
    type: 'bool',
    section: 'Serving',
    help: 'Offers HTTP/1.1 only.',
  },
  'http2-max-streams-per-connection': {
    type: 'int',
    section: 'Serving',
    help: 'Requests, watches included, that one HTTP/2 connection may have under way; 0: 250.',
  },
  'goaway-chance': {
    type: 'float',
    section: 'Serving',
    help: 'How likely an answer asks its HTTP/2 client to connect anew, so that clients spread over the replicas; up to 0.02.',
  },
} as const satisfies FlagTable;

type Http2Flags = OptionsOf<typeof http2Flags>;

/** As in kube-apiserver. */
const DEFAULT_MAX_STREAMS = 250;
const MAX_GOAWAY_CHANCE = 0.02;
/** Beyond what a connection can be of use for; keeps its windows within what HTTP/2 can say. */
const MAX_STREAMS_LIMIT = 8_000;

export const DEFAULT_HTTP2: Http2Options = { maxStreamsPerConnection: DEFAULT_MAX_STREAMS, goAwayChance: 0 };

/** What is wrong with the flags. */
export function http2Problems(flags: Http2Flags): readonly string[] {
  return [
    ...(flags.goawayChance <= MAX_GOAWAY_CHANCE ? [] : ['--goaway-chance can not be less than 0 or greater than 0.02']),
    ...(flags.http2MaxStreamsPerConnection <= MAX_STREAMS_LIMIT
      ? []
      : [`--http2-max-streams-per-connection can not be greater than ${MAX_STREAMS_LIMIT}`]),
  ];
}

/** Undefined: HTTP/1.1 only. */
export function http2Options(flags: Http2Flags): Http2Options | undefined {
  if (flags.disableHttp2Serving) return undefined;
  return {
    maxStreamsPerConnection: flags.http2MaxStreamsPerConnection || DEFAULT_MAX_STREAMS,
    goAwayChance: flags.goawayChance,
  };
}
