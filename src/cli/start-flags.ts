import { keepRequestsShortLived } from './v8-flags';

/** Imported before what it is for. */
keepRequestsShortLived();
