/** All that is used of the packages around etcd3: a file of its own in what we ship (scripts/bundle.ts). */
export { InterceptingCall } from '@grpc/grpc-js';
export { noop } from 'cockatiel';
export { Etcd3 } from 'etcd3';
