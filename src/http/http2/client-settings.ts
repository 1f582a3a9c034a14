import { checkMaxFrameSize, forEachSetting, Setting } from '../../http2/frames';
import { protocolError } from '../../http2/http2-error';
import type { ResponseSender } from './response-sender';

/** Does what a client's SETTINGS ask for. Throws an Http2Error for values that there are not. */
export function applySettings(payload: Buffer, sender: ResponseSender): void {
  forEachSetting(payload, (id, value) => {
    switch (id) {
      case Setting.INITIAL_WINDOW_SIZE:
        sender.setFirstWindow(value);
        break;
      case Setting.MAX_FRAME_SIZE:
        // We never send larger frames than the smallest that a client may ask for.
        checkMaxFrameSize(value);
        break;
      case Setting.ENABLE_PUSH:
        if (value > 1) throw protocolError('push is allowed or not');
        break;
      default: // of no meaning to who sends what we send
    }
  });
}
