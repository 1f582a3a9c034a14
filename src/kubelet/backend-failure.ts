import { describeNetworkError } from '../client/network-error';

/** A backend that could not be reached, or that broke off before it answered. The message is for the client. */
export class BackendFailure extends Error {
  constructor(cause: Error) {
    super(describeNetworkError(cause), { cause });
    this.name = 'BackendFailure';
  }
}
